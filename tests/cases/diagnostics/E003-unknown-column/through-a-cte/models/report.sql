WITH paid AS (
  SELECT order_id, customer_id FROM raw.orders WHERE status = 'paid'
)
SELECT
  order_id,
  -- expect: E003
  amount
FROM paid
