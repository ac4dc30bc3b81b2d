-- rocky: allow(select-star)
SELECT * FROM raw.orders
