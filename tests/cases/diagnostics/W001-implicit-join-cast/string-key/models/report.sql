SELECT o.order_id, l.price
FROM raw.orders AS o
-- expect: W001
JOIN raw.lines AS l ON o.order_id = l.product_code
