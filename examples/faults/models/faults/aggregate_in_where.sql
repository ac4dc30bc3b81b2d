SELECT customer_id
FROM shop.orders
-- expect: E007
WHERE sum(amount) > 100
GROUP BY customer_id
