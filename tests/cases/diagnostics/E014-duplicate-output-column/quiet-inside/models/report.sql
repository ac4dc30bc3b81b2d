SELECT t.a
FROM (SELECT order_id AS a, amount AS b, quantity AS b FROM raw.orders) AS t
