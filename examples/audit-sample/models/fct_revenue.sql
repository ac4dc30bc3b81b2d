SELECT trunc(paid_on, 'MONTH') AS month, sum(amount) AS revenue, count(*) AS payments
FROM payments
GROUP BY 1
