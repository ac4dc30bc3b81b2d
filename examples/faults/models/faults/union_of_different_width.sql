SELECT order_id, amount FROM shop.orders
UNION ALL
-- expect: E008
SELECT customer_id FROM shop.customers
