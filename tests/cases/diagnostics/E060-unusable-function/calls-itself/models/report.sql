SELECT order_id, loop(1) AS looped FROM raw.orders
