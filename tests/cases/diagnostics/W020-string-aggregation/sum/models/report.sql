SELECT
  -- expect: W020
  sum(status) AS total
FROM raw.orders
