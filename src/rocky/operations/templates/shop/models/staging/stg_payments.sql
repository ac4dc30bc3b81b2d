SELECT
  payment_id,
  order_id,
  method,
  paid_at,
  amount
FROM raw.payments
