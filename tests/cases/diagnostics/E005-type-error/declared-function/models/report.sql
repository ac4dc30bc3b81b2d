SELECT
  order_id,
  -- expect: E005
  net_amount(order_date) AS net,
  -- expect: E005
  score(amount) AS score
FROM raw.orders
