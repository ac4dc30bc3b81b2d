SELECT
  name,
  -- expect: E003
  address.town AS town
FROM raw.customers
