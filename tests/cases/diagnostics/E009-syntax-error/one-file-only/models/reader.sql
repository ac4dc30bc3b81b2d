SELECT order_id + 1 AS next FROM broken
