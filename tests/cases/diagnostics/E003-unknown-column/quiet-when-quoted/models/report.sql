SELECT `Order_Id`, o.AMOUNT AS amount, amount * 2 AS doubled, doubled + 1 AS more
FROM raw.orders AS o
ORDER BY doubled, o.status
