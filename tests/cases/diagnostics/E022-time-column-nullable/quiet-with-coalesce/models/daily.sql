SELECT customer_id, coalesce(signed_up, DATE '1970-01-01') AS signed_up
FROM raw.customers
WHERE signed_up >= @start_date AND signed_up < @end_date
