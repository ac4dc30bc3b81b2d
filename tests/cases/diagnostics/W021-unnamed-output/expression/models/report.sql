SELECT
  order_id,
  -- expect: W021
  amount * 2
FROM raw.orders
