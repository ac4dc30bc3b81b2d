SELECT order_id
FROM raw.orders
-- expect: E007
WHERE sum(amount) > 10
