SELECT
  order_id,
  amount,
  customer_id AS order_id_of_customer
FROM shop.orders
