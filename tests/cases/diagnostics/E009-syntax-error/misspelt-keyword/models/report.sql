SELECT order_id
-- expect: E009
FORM raw.orders
