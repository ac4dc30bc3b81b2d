SELECT order_id
FROM shop.orders
-- expect: E001
WHERE ordered_on > is_paid
