SELECT
  ORDER_ID
FROM shop.orders
