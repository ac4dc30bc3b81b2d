-- expect: E009
SELECT order_id {# the key #} FROM raw.orders
