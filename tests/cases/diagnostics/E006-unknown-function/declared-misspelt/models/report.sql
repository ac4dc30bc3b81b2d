SELECT
  order_id,
  -- expect: E006
  net_amont(amount) AS net
FROM raw.orders
