SELECT
  substring(name, 1) AS rest,
  substring(name, 1, 1) AS initial
FROM shop.customers
