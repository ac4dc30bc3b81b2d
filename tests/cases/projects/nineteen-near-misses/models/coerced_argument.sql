SELECT
  customer_id,
  upper(customer_id) AS digits
FROM raw.customers
