SELECT order_id
FROM shop.orders
WHERE ordered_on > '2024-01-01' AND is_paid = true
