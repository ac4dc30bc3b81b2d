SELECT order_id FROM raw.orders
