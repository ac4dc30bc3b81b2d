SELECT order_id, status
FROM raw.orders
-- expect: E040
ORDER BY 3
