SELECT
  customer_id,
  coalesce(max(status), 'none') AS status,
  sum(CASE WHEN quantity > 1 THEN 1 ELSE 0 END) AS several,
  row_number() OVER (ORDER BY max(amount) ASC NULLS FIRST) AS place
FROM raw.orders
WHERE EXTRACT(YEAR FROM order_date) = 2026
GROUP BY customer_id
