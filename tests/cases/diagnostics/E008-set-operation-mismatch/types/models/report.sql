SELECT order_date AS at FROM raw.orders
UNION ALL
-- expect: E008
SELECT quantity FROM raw.lines
