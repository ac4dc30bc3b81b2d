SELECT order_id, _region AS region, amount_cents, coupon, to_date(_synced_at) AS day
FROM acme_eu.orders
UNION ALL
SELECT order_id, _region AS region, amount_cents, coupon, to_date(_synced_at) AS day
FROM acme_us.orders
