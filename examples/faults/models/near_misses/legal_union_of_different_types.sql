SELECT order_id, amount FROM shop.orders
UNION ALL
SELECT order_id, customer_id FROM shop.orders
