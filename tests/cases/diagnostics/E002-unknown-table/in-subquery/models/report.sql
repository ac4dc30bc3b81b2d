SELECT order_id
FROM raw.orders
WHERE customer_id IN (
  SELECT customer_id
  -- expect: E002
  FROM raw.buyers
)
