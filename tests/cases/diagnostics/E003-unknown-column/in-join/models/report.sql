SELECT o.order_id, c.name
FROM raw.orders AS o
-- expect: E003
JOIN raw.customers AS c ON o.customer_id = c.id
