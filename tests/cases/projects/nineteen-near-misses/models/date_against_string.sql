SELECT order_id
FROM raw.orders
WHERE order_date > '2024-01-01'
