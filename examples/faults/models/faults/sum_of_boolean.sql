SELECT
  -- expect: E005
  sum(is_paid) AS paid_count
FROM shop.orders
