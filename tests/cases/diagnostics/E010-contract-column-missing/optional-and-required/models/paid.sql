SELECT order_id, amount AS total FROM raw.orders
