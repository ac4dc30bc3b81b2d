SELECT
  -- expect: E072
  @bucket(amount) AS missing,
  -- expect: E072
  @bucket(amount, 1, int, 2) AS too_many,
  -- expect: E072
  @bucket(amount, sise => 1) AS no_parameter,
  -- expect: E072
  @bucket(amount, order_id) AS no_literal,
  -- expect: E072
  @bucket(amount, 1, decimal(99)) AS no_type,
  -- expect: E072
  @bucket(amount, 1, size => 1) AS twice,
  -- expect: E072
  @bucket(value => amount, 1) AS unnamed,
  -- expect: E072
  @bucket(, 1) AS empty,
  -- expect: E072
  (SELECT at FROM @newest(raw.orders, max(ordered_at))) AS no_column,
  -- expect: E072
  (SELECT at FROM @newest(raw.orders + 1, ordered_at)) AS no_table,
  -- expect: E072
  (SELECT at FROM @newest(raw.orders, orders.ordered_at)) AS two_parts
FROM raw.orders
