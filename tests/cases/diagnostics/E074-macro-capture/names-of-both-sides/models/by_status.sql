SELECT status AS s, amount AS a FROM raw.orders
