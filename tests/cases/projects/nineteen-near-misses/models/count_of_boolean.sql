SELECT
  customer_id,
  count_if(is_gift) AS gifts
FROM raw.orders
GROUP BY customer_id
