SELECT customer_id, c.name, address.city, upper(country) AS country
FROM raw.customers AS c
WHERE customer_id IN (SELECT max(customer_id) FROM raw.orders)
