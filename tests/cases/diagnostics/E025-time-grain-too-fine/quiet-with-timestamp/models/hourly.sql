SELECT order_id, date_trunc('HOUR', ordered_at) AS ordered_hour, ordered_at
FROM raw.orders
WHERE ordered_at >= @start_date AND ordered_at < @end_date
