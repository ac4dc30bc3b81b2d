SELECT UPPER(status) AS status, Date_Add(order_date, 1) AS next_day, substring(status, 1, 2) AS short
FROM raw.orders
