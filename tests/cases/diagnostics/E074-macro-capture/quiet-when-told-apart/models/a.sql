WITH ranked AS (SELECT customer_id, country FROM raw.customers AS customers)
SELECT c.customer_id, @customers_in(c.country) AS neighbours
FROM @first_of(ranked, customer_id, country IS NOT NULL) AS c
