SELECT order_id, ordered_at AS `ordered at`
FROM raw.orders
WHERE ordered_at >= @start_date AND ordered_at < @end_date
