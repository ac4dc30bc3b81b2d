SELECT
  order_id,
  -- expect: E012
  amount
FROM raw.orders
WHERE amount IS NOT NULL
