SELECT
  order_id,
  amount AS total,
  -- expect: E014
  quantity AS total
FROM raw.orders
