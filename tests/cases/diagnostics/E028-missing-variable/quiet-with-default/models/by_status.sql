SELECT order_id, amount
FROM raw.orders
WHERE status IN ('@var(status, paid)', @var(other, concat('(', 'x', ')'))) AND quantity > @var(least, 0)
