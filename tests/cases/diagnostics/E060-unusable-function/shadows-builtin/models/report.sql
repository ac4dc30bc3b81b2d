SELECT upper(status) AS status FROM raw.orders
