SELECT
  -- expect: E005
  date_add(is_paid, 1) AS next_day
FROM shop.orders
