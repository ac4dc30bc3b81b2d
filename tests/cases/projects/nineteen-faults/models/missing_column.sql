SELECT
  order_id,
  -- expect: E003
  amont AS amount
FROM raw.orders
