SELECT
  order_id,
  -- expect: E005
  CASE WHEN is_gift THEN order_date ELSE quantity END AS shown
FROM raw.orders
