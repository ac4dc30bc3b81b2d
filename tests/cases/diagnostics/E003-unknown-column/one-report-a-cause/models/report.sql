SELECT order_id, amount * 2 AS doubled FROM staged WHERE amount > 1
