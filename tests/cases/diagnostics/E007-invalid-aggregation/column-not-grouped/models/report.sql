SELECT
  status,
  -- expect: E007
  customer_id,
  sum(amount) AS total
FROM raw.orders
GROUP BY status
