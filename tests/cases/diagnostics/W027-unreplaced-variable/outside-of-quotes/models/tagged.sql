SELECT
  order_id,
  -- expect: E009
  ${x} AS x
FROM raw.orders
