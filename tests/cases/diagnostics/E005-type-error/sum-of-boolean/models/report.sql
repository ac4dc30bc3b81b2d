SELECT
  -- expect: E005
  sum(is_gift) AS gifts
FROM raw.orders
