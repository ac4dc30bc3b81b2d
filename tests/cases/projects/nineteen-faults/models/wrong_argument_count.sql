SELECT
  order_id,
  -- expect: E006
  round(amount, 2, 3) AS amount
FROM raw.orders
