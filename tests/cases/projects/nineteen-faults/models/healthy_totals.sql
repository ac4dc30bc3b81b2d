SELECT customer_id, sum(amount) AS total, max(order_date) AS latest
FROM healthy_orders
GROUP BY customer_id
