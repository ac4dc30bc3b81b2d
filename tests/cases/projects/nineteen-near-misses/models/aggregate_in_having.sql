SELECT customer_id
FROM raw.orders
GROUP BY customer_id
HAVING sum(amount) > 100
