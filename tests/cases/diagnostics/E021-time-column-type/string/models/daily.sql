SELECT
  order_id,
  -- expect: E021
  CAST(ordered_at AS STRING) AS ordered_at
FROM raw.orders
WHERE ordered_at >= @start_date AND ordered_at < @end_date
