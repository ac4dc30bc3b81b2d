SELECT
  date_add(ordered_on, 1) AS next_day,
  date_add('2024-01-01', 1) AS second_day
FROM shop.orders
