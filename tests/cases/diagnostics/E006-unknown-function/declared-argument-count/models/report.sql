SELECT
  order_id,
  -- expect: E006
  net_amount(amount, 2) AS net,
  -- expect: E006
  net_amount(amounts => amount) AS other
FROM raw.orders
