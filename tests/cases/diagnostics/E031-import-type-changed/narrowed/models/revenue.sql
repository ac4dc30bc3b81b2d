SELECT
  order_id,
  -- expect: E031
  amount * 2 AS doubled
FROM lake.shop.orders
