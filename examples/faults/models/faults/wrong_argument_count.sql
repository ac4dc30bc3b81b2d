SELECT
  -- expect: E006
  substring(name) AS initial
FROM shop.customers
