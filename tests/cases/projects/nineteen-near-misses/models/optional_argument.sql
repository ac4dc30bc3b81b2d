SELECT
  order_id,
  round(amount, 2) AS amount,
  round(amount) AS whole
FROM raw.orders
