SELECT
  @bucket(amount, 10) AS a,
  @bucket(size => -5, value => amount + 1, kind => decimal(10, 2)) AS b,
  (SELECT at FROM @newest(raw.orders, ordered_at)) AS c
FROM raw.orders
