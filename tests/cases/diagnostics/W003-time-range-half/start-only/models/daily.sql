SELECT order_id, ordered_at
FROM raw.orders
-- expect: W003
WHERE ordered_at >= @start_date
