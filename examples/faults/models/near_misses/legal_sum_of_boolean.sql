SELECT
  count_if(is_paid) AS paid_count,
  max(is_paid) AS any_paid
FROM shop.orders
