SELECT order_id, amount, nope FROM by_status
