SELECT
  CAST(ordered_at AS DATE) AS ordered_on,
  count(*) AS orders,
  sum(amount) AS revenue
FROM raw.orders
GROUP BY CAST(ordered_at AS DATE)
