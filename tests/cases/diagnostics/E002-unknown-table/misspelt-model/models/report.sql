SELECT order_id
-- expect: E002
FROM stagged
