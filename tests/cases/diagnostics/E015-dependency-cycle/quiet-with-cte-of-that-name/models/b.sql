SELECT order_id FROM a
