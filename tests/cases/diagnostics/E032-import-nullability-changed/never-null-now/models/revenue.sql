SELECT
  order_id,
  -- expect: E032
  amount
FROM lake.shop.orders
