SELECT
  amount AS total,
  -- expect: E014
  quantity AS Total
FROM raw.orders
