SELECT
  order_id,
  -- expect: E025
  order_date
FROM raw.orders
WHERE ordered_at >= @start_date AND ordered_at < @end_date
