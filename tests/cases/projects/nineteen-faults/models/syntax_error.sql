SELECT order_id,
       amount
-- expect: E009
FORM raw.orders
