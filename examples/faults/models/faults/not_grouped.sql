SELECT
  customer_id,
  -- expect: E007
  ordered_on,
  sum(amount) AS total
FROM shop.orders
GROUP BY customer_id
