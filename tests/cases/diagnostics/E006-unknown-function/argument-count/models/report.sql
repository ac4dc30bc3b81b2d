SELECT
  order_id,
  -- expect: E006
  substring(status) AS short
FROM raw.orders
