SELECT order_id AS form
FROM shop.orders
WHERE amount > 0
