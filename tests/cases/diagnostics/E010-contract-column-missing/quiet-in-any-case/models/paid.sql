SELECT order_id AS Order_ID, amount FROM raw.orders
