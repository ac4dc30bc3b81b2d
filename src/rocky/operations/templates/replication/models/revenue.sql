SELECT
  day,
  region,
  sum(amount_cents) / 100 AS revenue,
  count(*) AS orders
FROM orders
GROUP BY day, region
