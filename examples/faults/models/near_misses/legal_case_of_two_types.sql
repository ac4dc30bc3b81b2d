SELECT
  order_id,
  CASE WHEN is_paid THEN order_id ELSE amount END AS mixed
FROM shop.orders
