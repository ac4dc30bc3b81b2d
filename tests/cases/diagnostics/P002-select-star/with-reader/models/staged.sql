-- expect: P002
SELECT * FROM raw.orders
