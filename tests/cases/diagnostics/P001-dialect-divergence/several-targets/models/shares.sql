SELECT
  order_id,
  -- expect: P001
  quantity / quantity AS share,
  -- expect: P001
  CAST(amount AS INT) AS whole
FROM raw.orders
