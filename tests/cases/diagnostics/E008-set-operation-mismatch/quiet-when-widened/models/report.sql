SELECT order_id, amount, order_date AS at, NULL AS note FROM raw.orders
UNION ALL
SELECT quantity, price, TIMESTAMP '2024-01-01 00:00:00', product_code FROM raw.lines
