SELECT @clean(status) AS a, @odd(quantity) AS b FROM raw.orders
