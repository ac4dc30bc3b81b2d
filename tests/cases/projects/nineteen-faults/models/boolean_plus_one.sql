SELECT
  order_id,
  -- expect: E005
  is_gift + 1 AS gifts
FROM raw.orders
