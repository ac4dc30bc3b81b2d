SELECT sum(CAST(status AS DECIMAL(18, 2))) AS total, max(status) AS last, count(status) AS n
FROM raw.orders
