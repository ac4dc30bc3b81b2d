SELECT o.order_id, c.name
FROM raw.orders AS o
-- expect: E001
JOIN raw.customers AS c ON o.is_gift = c.signed_up
