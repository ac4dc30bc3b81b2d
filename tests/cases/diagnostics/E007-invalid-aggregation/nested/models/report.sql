SELECT
  -- expect: E007
  sum(max(amount)) AS total
FROM raw.orders
