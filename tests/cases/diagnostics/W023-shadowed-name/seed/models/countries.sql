-- expect-file: W023
SELECT DISTINCT country FROM raw.customers
