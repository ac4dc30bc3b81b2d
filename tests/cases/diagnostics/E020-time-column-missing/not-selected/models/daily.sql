SELECT order_id
FROM raw.orders
WHERE ordered_at >= @start_date AND ordered_at < @end_date
