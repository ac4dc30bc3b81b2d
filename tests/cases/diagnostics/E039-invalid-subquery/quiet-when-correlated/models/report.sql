SELECT
  o.order_id,
  (SELECT max(c.name) FROM raw.customers AS c WHERE c.customer_id = o.customer_id) AS who
FROM raw.orders AS o
WHERE EXISTS (SELECT 1 FROM raw.lines AS l WHERE l.order_id = o.order_id)
