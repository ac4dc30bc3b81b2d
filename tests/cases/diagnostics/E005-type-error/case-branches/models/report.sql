SELECT
  order_id,
  -- expect: E005
  CASE WHEN is_gift THEN order_date ELSE 0 END AS shown
FROM raw.orders
