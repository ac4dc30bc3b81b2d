SELECT
  -- expect: E006
  uppper(name) AS name
FROM shop.customers
