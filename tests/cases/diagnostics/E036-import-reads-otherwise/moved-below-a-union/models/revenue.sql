SELECT 0 AS net, 0 AS gross
UNION ALL
-- expect: E036
SELECT * FROM lake.shop.orders
