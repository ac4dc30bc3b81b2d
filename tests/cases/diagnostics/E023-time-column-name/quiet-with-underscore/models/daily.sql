SELECT order_id, ordered_at AS _ordered_at1
FROM raw.orders
WHERE ordered_at >= @start_date AND ordered_at < @end_date
