SELECT customer_id, name, amount
FROM raw.orders
JOIN raw.customers USING (customer_id)
WHERE customer_id > 1
