SELECT order_id, order_date FROM raw.orders
UNION ALL
SELECT quantity, NULL FROM raw.lines
