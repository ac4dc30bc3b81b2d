SELECT
  order_id,
  nvl(status, 'none') AS status,
  datediff(order_date, DATE '2026-01-01') AS days,
  -- rocky: allow(P001)
  xxhash64(order_id) AS bucket
FROM raw.orders
