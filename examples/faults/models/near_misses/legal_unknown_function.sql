SELECT
  UPPER(name) AS name,
  `ucase`(name) AS again
FROM shop.customers
