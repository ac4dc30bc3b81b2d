SELECT
  order_id,
  -- expect: E038
  amount AS total
FROM raw.orders
