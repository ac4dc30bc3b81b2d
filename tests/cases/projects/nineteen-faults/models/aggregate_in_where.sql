SELECT customer_id
FROM raw.orders
-- expect: E007
WHERE sum(amount) > 100
