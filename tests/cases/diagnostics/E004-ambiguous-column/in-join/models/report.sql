SELECT
  -- expect: E004
  customer_id,
  c.name
FROM raw.orders AS o
JOIN raw.customers AS c ON o.customer_id = c.customer_id
