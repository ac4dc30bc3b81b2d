SELECT order_id
FROM raw.orders
-- expect: E001
WHERE order_date > is_gift
