SELECT
  customer_id,
  upper(status) AS status,
  sum(amount) AS total
FROM raw.orders
GROUP BY ALL
