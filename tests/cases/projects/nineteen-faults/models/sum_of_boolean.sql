SELECT
  customer_id,
  -- expect: E005
  sum(is_gift) AS gifts
FROM raw.orders
GROUP BY customer_id
