SELECT order_id
FROM raw.orders
-- expect: E009
WHERE amount > {{ var('least', 0) }}
