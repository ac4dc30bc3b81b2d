CREATE MACRO pinned(id EXPRESSION)
RETURN (SELECT max(name) FROM raw.customers AS c WHERE c.customer_id = @id AND quantity > 1)
