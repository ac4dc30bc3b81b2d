SELECT order_id, @half() AS a, @no_parameter(amount) AS b FROM raw.orders
