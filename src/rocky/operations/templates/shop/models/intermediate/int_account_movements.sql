-- What a customer owes and what they paid, as one list.
SELECT
  customer_id,
  ordered_at AS moved_at,
  'order' AS kind,
  amount
FROM stg_orders

UNION ALL

SELECT
  orders.customer_id,
  payments.paid_at AS moved_at,
  'payment' AS kind,
  CAST(-payments.amount AS DECIMAL(12,2)) AS amount
FROM stg_payments AS payments
JOIN stg_orders AS orders ON orders.order_id = payments.order_id
