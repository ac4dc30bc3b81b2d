SELECT order_id, all_of(amount) AS total FROM raw.orders
