WITH a AS (SELECT order_id FROM raw.orders)
SELECT order_id FROM a
