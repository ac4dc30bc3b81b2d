WITH paid AS (
  SELECT order_id, amount FROM raw.orders WHERE status = 'paid'
)
SELECT
  order_id,
  -- expect: E003
  customer_id
FROM paid
