SELECT
  order_id,
  -- expect: E045
  amount
FROM lake.shop.orders
