SELECT
  order_id,
  -- expect: E005
  CASE WHEN is_paid THEN ordered_on ELSE amount END AS mixed
FROM shop.orders
