SELECT order_id, ordered_at FROM raw.orders
