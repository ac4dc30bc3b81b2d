SELECT f.customer_id
FROM flags AS f
-- expect: E001
JOIN raw.customers AS c ON f.flag = c.signed_up
