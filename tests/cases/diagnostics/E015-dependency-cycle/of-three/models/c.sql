SELECT order_id FROM b
