SELECT
  order_id,
  -- expect: E007
  row_number() OVER (PARTITION BY status) AS place
FROM raw.orders
