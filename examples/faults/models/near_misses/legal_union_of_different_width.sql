SELECT order_id, amount FROM shop.orders
UNION ALL
SELECT customer_id, NULL FROM shop.customers
