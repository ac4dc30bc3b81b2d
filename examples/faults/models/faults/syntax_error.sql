SELECT order_id,
-- expect: E009
FORM shop.orders
WHERE amount > 0
