SELECT ordered_on, revenue, rank() OVER (ORDER BY revenue DESC) AS place
FROM daily_orders
