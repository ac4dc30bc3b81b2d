SELECT a.order_id FROM a JOIN b ON a.order_id = b.order_id
