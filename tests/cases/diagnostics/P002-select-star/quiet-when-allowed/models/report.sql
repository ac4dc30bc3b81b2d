SELECT order_id FROM staged
