SELECT o.order_id, c.score
FROM shop.orders AS o
JOIN crm.contacts AS c ON c.customer_ref = CAST(o.customer_id AS STRING)
