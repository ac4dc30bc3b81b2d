SELECT
  order_id,
  amount,
  -- expect: E014
  customer_id AS order_id
FROM shop.orders
