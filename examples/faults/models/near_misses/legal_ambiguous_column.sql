SELECT
  customer_id,
  amount
FROM shop.orders AS o
JOIN shop.customers AS c USING (customer_id)
