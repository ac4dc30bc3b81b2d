-- expect: E009
SELECT order_id FROM raw.orders; SELECT amount FROM raw.orders
