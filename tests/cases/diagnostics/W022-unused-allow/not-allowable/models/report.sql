SELECT
  -- expect: E003, W022
  order_idd -- rocky: allow(unknown-column)
FROM raw.orders
