SELECT
  order_id,
  amount * 2 -- rocky: allow(W021)
FROM raw.orders
