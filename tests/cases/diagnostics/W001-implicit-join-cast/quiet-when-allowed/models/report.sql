SELECT o.order_id, l.price
FROM raw.orders AS o
JOIN raw.lines AS l ON o.order_id = l.product_code -- rocky: allow(implicit-join-cast)
