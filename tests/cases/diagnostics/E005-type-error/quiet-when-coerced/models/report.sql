SELECT
  quantity + 1.5 AS more,
  order_date + 1 AS next_day,
  CASE WHEN is_gift THEN quantity ELSE amount END AS shown,
  concat(status, quantity, order_date) AS label,
  sum(CAST(is_gift AS INT)) OVER () AS gifts,
  date_diff(ordered_at, '2024-01-01') AS days
FROM raw.orders
