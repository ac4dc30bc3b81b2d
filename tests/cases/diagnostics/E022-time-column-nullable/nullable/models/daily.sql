SELECT
  customer_id,
  -- expect: E022
  signed_up
FROM raw.customers
WHERE signed_up >= @start_date AND signed_up < @end_date
