SELECT
  customer_id,
  full_name,
  lower(email) AS email,
  coalesce(country_code, 'DE') AS country_code,
  signed_up_on
FROM raw.customers
