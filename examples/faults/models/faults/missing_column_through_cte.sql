WITH paid AS (
  SELECT order_id, amount FROM shop.orders WHERE is_paid
)
SELECT
  order_id,
  -- expect: E003
  customer_id
FROM paid
