SELECT
  customer_id,
  -- expect: E007
  status,
  sum(amount) AS total
FROM raw.orders
GROUP BY customer_id
