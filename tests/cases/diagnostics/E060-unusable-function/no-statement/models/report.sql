SELECT order_id, net(amount) AS net FROM raw.orders
