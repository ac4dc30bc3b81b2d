SELECT o.order_id
FROM raw.orders AS o
JOIN raw.lines AS l ON o.order_id = l.order_id
-- expect: E004
WHERE quantity > 1
