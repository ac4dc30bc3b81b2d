SELECT
  customer_id,
  year(ordered_on) AS in_year,
  sum(amount) AS total
FROM shop.orders
GROUP BY customer_id, year(ordered_on)
