SELECT o.order_id, c.name
FROM raw.orders AS o
JOIN raw.customers AS c ON o.order_date = c.signed_up AND o.ordered_at > c.signed_up
WHERE o.order_date > '2024-01-01' AND o.quantity = 2.5
