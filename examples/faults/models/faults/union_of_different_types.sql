SELECT order_id, ordered_on FROM shop.orders
UNION ALL
-- expect: E008
SELECT order_id, is_paid FROM shop.orders
