SELECT
  customer_id,
  -- expect: E005
  upper(tags) AS tags
FROM raw.customers
