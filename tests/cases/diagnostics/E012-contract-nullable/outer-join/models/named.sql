SELECT
  o.order_id,
  -- expect: E012
  c.name
FROM raw.orders AS o
LEFT JOIN raw.customers AS c ON o.customer_id = c.customer_id
