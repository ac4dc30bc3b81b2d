SELECT
  -- expect: E004
  customer_id,
  amount
FROM shop.orders AS o
JOIN shop.customers AS c ON c.customer_id = o.customer_id
