SELECT
  order_id,
  -- expect: W031
  amount
FROM lake.shop.orders
