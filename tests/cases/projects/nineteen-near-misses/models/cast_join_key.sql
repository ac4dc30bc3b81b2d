SELECT o.order_id, l.price
FROM raw.orders AS o
JOIN raw.lines AS l ON try_cast(l.product_code AS BIGINT) = o.order_id
