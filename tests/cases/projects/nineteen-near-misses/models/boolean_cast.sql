SELECT
  order_id,
  CAST(is_gift AS INT) + 1 AS gifts
FROM raw.orders
