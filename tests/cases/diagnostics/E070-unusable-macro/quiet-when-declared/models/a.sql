SELECT order_id, @net(amount) AS net, @net(amount, discount => 0.2) AS less FROM raw.orders
