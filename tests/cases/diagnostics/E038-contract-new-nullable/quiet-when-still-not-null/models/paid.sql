SELECT order_id, coalesce(amount, 0) AS total FROM raw.orders
