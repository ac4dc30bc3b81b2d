SELECT order_id FROM raw.orders WHERE status = 'old'
