SELECT order_id
FROM raw.orders
-- expect: E040
LIMIT -1
