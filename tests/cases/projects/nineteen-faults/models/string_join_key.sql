SELECT o.order_id, l.price
FROM raw.orders AS o
-- expect: W001
JOIN raw.lines AS l ON l.product_code = o.order_id
