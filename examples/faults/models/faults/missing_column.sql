SELECT
  -- expect: E003
  order_idd
FROM shop.orders
