SELECT order_id, status
FROM raw.orders
ORDER BY 2, 1
LIMIT 2 * 5 OFFSET 1
