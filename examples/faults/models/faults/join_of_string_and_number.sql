SELECT o.order_id, c.score
FROM shop.orders AS o
-- expect: W001
JOIN crm.contacts AS c ON c.customer_ref = o.customer_id
