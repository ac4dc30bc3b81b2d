SELECT order_id, amount FROM raw.orders
