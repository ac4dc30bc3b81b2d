WITH paid AS (
  SELECT order_id, amount, customer_id AS buyer FROM shop.orders WHERE is_paid
)
SELECT
  order_id,
  buyer AS customer_id
FROM paid
