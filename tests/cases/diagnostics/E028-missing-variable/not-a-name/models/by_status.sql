SELECT order_id
FROM raw.orders
-- expect: E028
WHERE quantity > @var(1)
