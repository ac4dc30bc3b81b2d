-- expect: E061
SELECT order_id, @in_thousand(amount) AS a,
-- expect: E061
  @sum(amount) AS b
FROM raw.orders
