SELECT
  o.order_id,
  customer_id
FROM raw.orders AS o
JOIN raw.customers AS c USING (customer_id)
