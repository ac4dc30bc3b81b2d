SELECT
  order_id,
  -- expect: P001
  nvl(status, 'none') AS status,
  -- expect: P001
  datediff(order_date, DATE '2026-01-01') AS days,
  -- expect: P001
  row_number() OVER (PARTITION BY customer_id ORDER BY amount) AS place
FROM raw.orders
