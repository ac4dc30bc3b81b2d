SELECT coupon, count(*) AS orders
FROM orders
WHERE coupon IS NOT NULL
GROUP BY coupon
