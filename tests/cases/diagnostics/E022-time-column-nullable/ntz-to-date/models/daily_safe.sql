SELECT
  coalesce(CAST(at AS DATE), DATE '1970-01-01') AS day,
  count(*) AS events
FROM raw.events
WHERE at >= @start_date AND at < @end_date
GROUP BY 1
