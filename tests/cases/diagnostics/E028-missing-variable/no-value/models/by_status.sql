SELECT order_id, amount
FROM raw.orders
-- @var(in_a_comment) is none
-- expect: E028
WHERE status = '@var(status)' AND quantity > @var(least, 0)
