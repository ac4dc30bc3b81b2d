SELECT customer_id, name FROM raw.customers
