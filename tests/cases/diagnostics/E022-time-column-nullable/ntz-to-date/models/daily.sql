SELECT
  -- expect: E022
  CAST(at AS DATE) AS day,
  count(*) AS events
FROM raw.events
WHERE at >= @start_date AND at < @end_date
GROUP BY 1
