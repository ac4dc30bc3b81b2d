SELECT order_id, CAST(amount * 2 AS DECIMAL(18, 2)) AS amount FROM raw.orders
