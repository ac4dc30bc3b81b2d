SELECT order_id, latest(order_date) AS is_latest FROM raw.orders
