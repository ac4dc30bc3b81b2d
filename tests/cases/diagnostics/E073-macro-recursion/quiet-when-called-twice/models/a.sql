SELECT @cleaner(@clean(@clean(status))) AS a FROM raw.orders
