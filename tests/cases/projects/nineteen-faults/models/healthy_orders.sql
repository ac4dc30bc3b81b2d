SELECT order_id, customer_id, coalesce(amount, 0) AS amount, order_date FROM raw.orders
