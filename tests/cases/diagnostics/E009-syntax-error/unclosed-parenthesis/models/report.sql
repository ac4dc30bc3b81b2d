SELECT
  order_id,
  round(amount, 2 AS amount
-- expect: E009
FROM raw.orders
