SELECT
  order_id,
  -- expect: E006
  to_euros(amount) AS euros
FROM raw.orders
