SELECT
  order_id,
  -- expect: E003
  amuont AS amount
FROM raw.orders
