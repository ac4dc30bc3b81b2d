SELECT order_id, CAST(ordered_at AS TIMESTAMP_NTZ) AS ordered_at
FROM raw.orders
WHERE ordered_at >= @start_date AND ordered_at < @end_date
