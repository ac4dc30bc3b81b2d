SELECT
  order_id,
  -- expect: E006
  uper(status) AS status
FROM raw.orders
