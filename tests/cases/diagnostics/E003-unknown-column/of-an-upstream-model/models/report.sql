SELECT
  order_id,
  -- expect: E003
  amount
FROM staged
