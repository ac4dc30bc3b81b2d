SELECT
  -- expect: E005
  is_paid + 1 AS paid_count
FROM shop.orders
