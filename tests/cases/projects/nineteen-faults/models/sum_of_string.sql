SELECT
  customer_id,
  -- expect: W020
  sum(status) AS total
FROM raw.orders
GROUP BY customer_id
