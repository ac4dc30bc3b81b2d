SELECT order_id, order_date FROM raw.orders
UNION ALL
-- expect: E008
SELECT order_id, quantity FROM raw.lines
