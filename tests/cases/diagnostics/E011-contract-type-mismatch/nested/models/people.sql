SELECT
  customer_id,
  -- expect: E011
  address
FROM raw.customers
