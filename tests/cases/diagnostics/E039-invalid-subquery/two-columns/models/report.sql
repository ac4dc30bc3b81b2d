SELECT
  order_id,
  -- expect: E039
  (SELECT name, country FROM raw.customers LIMIT 1) AS who
FROM raw.orders
