SELECT order_id, amount FROM raw.orders
UNION ALL
-- expect: E008
SELECT order_id FROM raw.lines
