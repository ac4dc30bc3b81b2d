SELECT order_id, row_number() OVER (ORDER BY order_id) AS place FROM raw.orders
