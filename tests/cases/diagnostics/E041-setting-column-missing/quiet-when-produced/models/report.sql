SELECT order_id, order_date FROM raw.orders
