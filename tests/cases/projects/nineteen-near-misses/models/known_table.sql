WITH oders AS (SELECT order_id FROM raw.orders)
SELECT order_id
FROM oders
