SELECT
  order_id,
  CASE WHEN is_gift THEN order_date ELSE ordered_at END AS shown
FROM raw.orders
