-- expect: E009
SELECT order_id FROM raw.orders WHERE
