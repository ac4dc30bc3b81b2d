SELECT order_id, coalesce(amount, CAST(0 AS DECIMAL(18, 2))) AS amount FROM raw.orders
