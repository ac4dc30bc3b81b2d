SELECT
  order_id,
  -- expect: W032
  amount
FROM lake.shop.orders
