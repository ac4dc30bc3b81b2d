WITH t AS (SELECT * FROM raw.orders) SELECT order_id FROM t
