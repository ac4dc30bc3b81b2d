SELECT 0 AS net, 0 AS gross
UNION ALL
SELECT net, gross FROM lake.shop.orders
