SELECT order_id, amount * 2 AS doubled FROM missing_column
