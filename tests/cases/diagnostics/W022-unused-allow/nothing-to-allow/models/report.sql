SELECT
  -- expect: W022
  order_id -- rocky: allow(unnamed-output)
FROM raw.orders
