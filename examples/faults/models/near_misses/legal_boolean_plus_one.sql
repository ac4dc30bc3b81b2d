SELECT
  CAST(is_paid AS INT) + 1 AS paid_count
FROM shop.orders
