SELECT
  amount * 2 AS twice,
  -- expect: E036
  twice + 1 AS more
FROM lake.shop.orders
