SELECT country, SUM(score) AS score, COUNT(*) AS orders
FROM scored_orders
GROUP BY country
