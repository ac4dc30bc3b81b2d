WITH shipments AS (SELECT order_id FROM shop.orders)
SELECT order_id
FROM shipments
