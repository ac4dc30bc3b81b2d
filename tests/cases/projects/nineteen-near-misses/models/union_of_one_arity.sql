SELECT order_id, amount FROM raw.orders
UNION ALL
SELECT order_id, price FROM raw.lines
