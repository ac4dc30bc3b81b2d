SELECT
  o.order_id,
  o.customer_id,
  -- expect: E014
  c.customer_id
FROM raw.orders AS o
JOIN raw.customers AS c ON o.customer_id = c.customer_id
