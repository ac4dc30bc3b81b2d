SELECT customer_id, is_gift AS flag FROM raw.orders
