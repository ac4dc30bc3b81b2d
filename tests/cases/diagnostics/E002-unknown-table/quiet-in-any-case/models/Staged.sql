SELECT order_id FROM RAW.Orders
