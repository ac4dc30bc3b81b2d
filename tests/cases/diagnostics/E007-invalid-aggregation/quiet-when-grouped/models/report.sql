SELECT
  upper(status) AS status,
  year(order_date) AS y,
  sum(amount) AS total,
  sum(sum(amount)) OVER (ORDER BY year(order_date)) AS running
FROM raw.orders
GROUP BY upper(status), y
HAVING sum(amount) > 10 AND total < 1000
ORDER BY total
