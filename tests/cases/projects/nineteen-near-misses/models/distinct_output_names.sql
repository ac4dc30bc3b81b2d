SELECT
  order_id,
  amount AS total,
  quantity AS total_
FROM raw.orders
