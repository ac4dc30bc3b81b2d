WITH paid AS (
  SELECT *, amount AS total FROM raw.orders WHERE status = 'paid'
)
SELECT
  order_id,
  customer_id
FROM paid
