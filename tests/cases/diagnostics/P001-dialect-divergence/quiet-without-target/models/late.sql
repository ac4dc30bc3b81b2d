-- rocky: allow(dialect-divergence)
SELECT order_id, nvl(status, 'none') AS status FROM raw.orders
