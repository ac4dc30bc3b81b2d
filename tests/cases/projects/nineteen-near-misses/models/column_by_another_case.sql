SELECT
  order_id,
  AMOUNT AS amount
FROM raw.orders
