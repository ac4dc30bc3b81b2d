SELECT
  o.order_id,
  -- expect: E004
  customer_id
FROM raw.orders AS o
JOIN raw.customers AS c ON o.customer_id = c.customer_id
