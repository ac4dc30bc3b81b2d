SELECT
  customer_id,
  sum(CAST(status AS DECIMAL(18, 2))) AS total
FROM raw.orders
GROUP BY customer_id
