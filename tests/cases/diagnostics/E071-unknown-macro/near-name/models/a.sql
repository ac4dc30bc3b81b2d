-- expect: E071
SELECT order_id, @in_thousand(amount) AS a,
-- expect: E071
  @sum(amount) AS b
FROM raw.orders
