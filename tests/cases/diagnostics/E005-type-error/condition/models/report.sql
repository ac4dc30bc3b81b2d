SELECT order_id
FROM raw.orders
-- expect: E005
WHERE quantity
