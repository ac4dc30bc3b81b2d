SELECT
  order_id,
  -- expect: E011
  amount * 2 AS amount
FROM raw.orders
