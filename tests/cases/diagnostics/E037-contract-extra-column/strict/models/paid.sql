SELECT
  order_id,
  -- expect: E037
  amount
FROM raw.orders
