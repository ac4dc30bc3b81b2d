SELECT
  order_id,
  -- expect: E005
  CAST(order_date AS INT) AS day_number
FROM raw.orders
