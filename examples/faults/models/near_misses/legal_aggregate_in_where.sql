SELECT customer_id
FROM shop.orders
GROUP BY customer_id
HAVING sum(amount) > 100
