SELECT o.order_id, l.price
FROM raw.orders AS o
JOIN raw.lines AS l ON o.order_id = try_cast(l.product_code AS BIGINT) AND o.quantity = l.order_id
