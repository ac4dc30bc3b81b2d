SELECT
  order_id,
  amount
-- expect: E045
FROM lake.shop.orders
