-- query: order_id
SELECT order_id FROM orders WHERE status LIKE ANY ('a%', 'b%') AND NOT (note ILIKE ALL ('%x%', '%y%'))

-- query: case
SELECT CASE WHEN status RLIKE '^x' THEN 1 WHEN note REGEXP 'y' THEN 2 END AS a FROM orders

-- query: tags_referrer_id
SELECT DISTINCT o.customer_id, c.* FROM orders o JOIN customers c ON o.customer_id = c.customer_id WHERE o.status <> 'x'

-- query: status
SELECT ALL status FROM orders

-- query: order_id_2
SELECT o.quantity * l.quantity AS q, o.order_id FROM orders o, order_lines l WHERE o.order_id = l.order_id AND l.product_id IS NOT NULL

-- query: product_id
SELECT l.product_id FROM order_lines l WHERE l.product_id IS NOT NULL

-- query: coalesce
SELECT coalesce(product_id, 0) AS p FROM order_lines WHERE product_id > 1

-- query: product_id_2
SELECT product_id FROM order_lines WHERE product_id = 5

-- query: customer_id
SELECT customer_id FROM events GROUP BY customer_id HAVING customer_id IS NOT NULL

-- query: join
SELECT a.x FROM (SELECT NULL AS x) a JOIN (SELECT 1 AS x) b ON a.x = b.x

-- query: nvl_max
SELECT nvl(max(a), 0) AS m FROM VALUES (1), (NULL) t(a)

-- query: isn
SELECT count(a) AS n, sum(a) AS s, a IS NULL AS isn FROM VALUES (1, 2), (NULL, 3) AS t(a, b) GROUP BY a

-- query: named_struct
SELECT named_struct('x', a, 'y', b).x AS x FROM VALUES (1, 'p') AS t(a, b)

-- query: array_struct
SELECT array(struct(1 AS a), struct('x' AS a)) AS r

-- query: struct
SELECT CASE WHEN true THEN struct(1 AS a) ELSE struct(NULL AS a) END AS r

-- query: coalesce_named_struct
SELECT coalesce(loyalty, named_struct('tier', 'x', 'points', 1, 'since', NULL)) AS l FROM customers

-- query: coalesce_nvl
SELECT coalesce(address, NULL) AS a, if(true, address, NULL) AS b, nvl(loyalty, NULL) AS c FROM customers

-- query: map_from_entries_array_struct_map_entrie
SELECT map_from_entries(array(struct('a', 1), struct('b', NULL))) AS m, map_entries(map('a', 1)) AS e

-- query: array_sort
SELECT array_sort(items, (l, r) -> CASE WHEN l.qty < r.qty THEN -1 WHEN l.qty > r.qty THEN 1 ELSE 0 END) AS s FROM events

-- query: transform_sequence
SELECT transform(sequence(1, 3), x -> transform(sequence(1, x), y -> x * y)) AS t

-- query: transform_filter_aggregate_named_struct
SELECT transform(sizes, x -> x + product_id) AS a, filter(sizes, x -> x IN (1, 2, product_id)) AS b, aggregate(sizes, named_struct('s', 0, 'n', 0), (a, x) -> named_struct('s', a.s + x, 'n', a.n + 1), a -> a.s / a.n) AS c FROM products

-- query: aggregate_array_reduce
SELECT aggregate(sizes, CAST(NULL AS INT), (a, x) -> a + x) AS a, aggregate(array(1, 2), 0, (a, x) -> a + x) AS b, reduce(array(1.5), CAST(0 AS DECIMAL(11,1)), (a, x) -> CAST(a + x AS DECIMAL(11,1))) AS c FROM products

-- query: map_array_named_struct
SELECT map('a', 1).a AS x, map('a', map('b', 2)).a.b AS y, array(named_struct('z', 1)).z AS z

-- query: struct_named_struct
SELECT (1, 2, 3).col2 AS x, struct(1, 2).col1 AS y, named_struct('A', 1).a AS z

-- query: array_map
SELECT array(1, 2, 3)[CAST(1 AS BIGINT)] AS a, array(1)[1Y] AS b, map(1L, 'x')[1] AS c, map('1', 'x')[1] AS d

-- query: to_json_named_struct_map_from_json
SELECT to_json(named_struct('a', DATE'2020-01-01'), map('dateFormat', 'dd')) AS a, from_json('{}', 'STRUCT<`a b`: INT, c: STRUCT<d: INT>>').`a b` AS b

-- query: where
SELECT * FROM orders o WHERE o.order_id IN (1, 2, 3) AND o.status NOT IN ('a', 'b') AND o.amount NOT BETWEEN 1 AND 2

-- query: sum_count_avg_max
SELECT sum(DISTINCT amount) AS a, count(ALL status) AS b, avg(ALL quantity) AS c, max(DISTINCT status) AS d FROM orders

-- query: any_value_first
SELECT any_value(status) FILTER (WHERE status > 'a') AS a, first(note IGNORE NULLS) AS b FROM orders

-- query: status_2
SELECT status, count(*) FROM orders GROUP BY GROUPING SETS (status, (quantity, status), ROLLUP(is_gift, status))

-- query: status_quantity
SELECT status, quantity, sum(amount) FROM orders GROUP BY CUBE(status, (quantity, is_gift))

-- query: count
SELECT count(*) AS c, status s FROM orders GROUP BY s ORDER BY c, s

-- query: count_2
SELECT customer_id c, count(*) FROM orders GROUP BY c, 1

-- query: status_3
SELECT t.status, t.n FROM (SELECT status, count(*) n FROM orders GROUP BY 1) t ORDER BY t.n

-- query: sum_count
SELECT sum(amount) s FROM orders GROUP BY customer_id ORDER BY customer_id, count(*)

-- query: status_share
SELECT status, sum(amount) OVER (PARTITION BY status) / sum(amount) OVER () AS share FROM orders WHERE status IS NOT NULL ORDER BY share

-- query: where_2
SELECT lateral_x + 1 AS y FROM (SELECT 1 AS lateral_x) WHERE lateral_x > 0

-- query: nxt
SELECT order_id AS id, id + 1 AS nxt FROM orders WHERE order_id > 0 ORDER BY nxt

-- query: amount
SELECT 1 AS amount, amount AS b FROM orders

-- query: plain
SELECT x.a, y.a FROM (SELECT 1 AS a) x, (SELECT 'b' AS a) y

-- query: join_using
SELECT * FROM (SELECT 1 AS a) x JOIN (SELECT 1L AS a) y USING (a)

-- query: join_using_2
SELECT a FROM (SELECT 1 AS a) x FULL JOIN (SELECT 1L AS a) y USING (a)

-- query: join_using_3
SELECT a, x.a, y.a FROM (SELECT 1 AS a) x LEFT JOIN (SELECT 'x' AS a) y USING (a)

-- query: join_2
SELECT * FROM (SELECT 1 AS a, 2 AS b) x NATURAL FULL JOIN (SELECT 1 AS a, 3 AS c) y

-- query: order_id_status
SELECT o.order_id, status FROM orders AS o (order_id, cust, status, a, b, c, d, e, f, g, h, i, j, k, l, m, n)

-- query: plain_2
SELECT z FROM orders AS o(x, y, z, a, b, c, d, e, f, g, h, i, j, k, l, m, n)

-- query: join_lateral_where
SELECT * FROM orders LEFT JOIN LATERAL (SELECT name FROM customers WHERE customers.customer_id = orders.customer_id LIMIT 1) ON true

-- query: explode
SELECT * FROM customers c LEFT JOIN LATERAL explode(c.tags) AS t(tag)

-- query: customer_id_tag
SELECT c.customer_id, t.tag, t2.ch FROM customers c, LATERAL explode(tags) t(tag), LATERAL explode(split(t.tag, '')) t2(ch)

-- query: range
SELECT * FROM range(3) a JOIN range(5) b ON a.id = b.id

-- query: range_2
SELECT * FROM range(3) AS t(n), LATERAL (SELECT n * 2 AS m)

-- query: posexplode_map
SELECT * FROM posexplode(map('a', 1))

-- query: explode_outer
SELECT * FROM explode_outer(CAST(NULL AS ARRAY<INT>)) t

-- query: date_add
SELECT date_add(d, 1) AS nd FROM (VALUES (DATE'2020-01-01'), (NULL)) AS t(d)

-- query: year
SELECT year(d) AS y, d + INTERVAL 1 DAY AS n FROM VALUES (DATE'2020-01-01') AS t(d)

-- query: plain_3
SELECT CAST('1' AS INTEGER) AS a, CAST(1 AS REAL) AS b, CAST(1 AS NUMERIC(5)) AS c, CAST(1 AS DEC(5,1)) AS d, CAST(1 AS LONG) AS e, CAST(1 AS SHORT) AS f, CAST(1 AS BYTE) AS g, CAST('a' AS STRING COLLATE UTF8_LCASE) AS h

-- query: struct_array
SELECT CAST(struct(1, 'a') AS STRUCT<x: INT NOT NULL, y: STRING COMMENT 'c'>) AS s, CAST(NULL AS STRUCT<a: INT NOT NULL>) AS t, CAST(array(1) AS ARRAY<BIGINT>) AS u

-- query: now_to_date
SELECT current_date - INTERVAL 7 DAYS AS a, current_timestamp - INTERVAL 1 HOUR AS b, now() - current_date AS c, DATE'2024-01-31' + INTERVAL 1 MONTH AS d, TIMESTAMP'2024-01-01' + INTERVAL '1' YEAR AS e, to_date('2024', 'yyyy') - 1 AS f

-- query: extract_datediff
SELECT order_date + 7 AS a, order_date - INTERVAL '7' DAY AS b, ordered_at::date - order_date AS c, (ordered_at - shipped_at)::string AS d, extract(DAYS FROM shipped_at - ordered_at) AS e, datediff(HOUR, ordered_at, shipped_at) AS f FROM orders

-- query: interval_interval_interval
SELECT INTERVAL 1 DAY * 2 AS a, 2 * INTERVAL 1 DAY AS b, INTERVAL 1 DAY / 2 AS c, INTERVAL 1 DAY - INTERVAL 1 HOUR AS d, DATE'2020-01-01' + INTERVAL 1 DAY * 2 AS e, INTERVAL 1 DAY + DATE'2020-01-01' AS f, INTERVAL 1 DAY + TIMESTAMP'2020-01-01' AS g, INTERVAL 1 DAY < INTERVAL 25 HOURS AS h

-- query: percentile_cont_listagg
SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY amount) FILTER (WHERE is_paid) AS a, listagg(status, ',') WITHIN GROUP (ORDER BY status) FILTER (WHERE status IS NOT NULL) AS b FROM orders

-- query: percentile_cont
SELECT percentile_cont(0.25) WITHIN GROUP (ORDER BY quantity) OVER (PARTITION BY status) AS a FROM orders

-- query: order_id_3
SELECT /*+ MERGE(o, c), SHUFFLE_HASH(c) */ /*+ REBALANCE */ o.order_id FROM orders o JOIN customers c USING (customer_id)

-- query: current_timestamp
SELECT current_timestamp() > ordered_at AS a, current_timestamp AS current_timestamp FROM orders

-- query: values
SELECT date AS d, timestamp AS t, interval AS i, year AS y, `date` AS d2 FROM VALUES (1, 2, 3, 4) AS q(date, timestamp, interval, year)

-- query: month_week
SELECT day, month, week FROM calendar WHERE month = 1

-- query: row
SELECT row FROM (SELECT 1 AS row)

-- query: type_value
SELECT user, start, `end`, type, value FROM VALUES (1, 2, 3, 4, 5) AS t(user, start, `end`, type, value)

-- query: key_value
SELECT key, value FROM (SELECT explode(map('a', 1)))

-- query: col
SELECT col FROM (SELECT explode(array(1)))

-- query: pos_col
SELECT pos, col FROM (SELECT posexplode(array('x')))

-- query: count_max
SELECT `count(1)`, `max(amount)` FROM (SELECT count(*), max(amount) FROM orders)

-- query: plain_4
SELECT `(amount + 1)` FROM (SELECT amount + 1 FROM orders)

-- query: upper
SELECT `upper(status)` FROM (SELECT upper(status) FROM orders)

-- query: city
SELECT `city` FROM (SELECT address.city FROM customers)

-- query: plain_5
SELECT `sizes[0]` FROM (SELECT sizes[0] FROM products)

-- query: sum
SELECT * FROM (SELECT sum(amount) FROM orders GROUP BY status HAVING sum(amount) > 1)

-- query: order_limit_union
SELECT * FROM (SELECT * FROM orders ORDER BY order_id LIMIT 5) UNION ALL (SELECT * FROM orders LIMIT 3)

-- query: union_where
SELECT * FROM orders UNION SELECT * FROM orders WHERE false

-- query: order_limit_union_2
(SELECT order_id AS a FROM orders ORDER BY a LIMIT 1) UNION ALL (SELECT product_id FROM products ORDER BY 1 LIMIT 1)

-- query: union_where_values
SELECT a FROM (SELECT 1 AS a UNION ALL SELECT 2) t WHERE a IN (SELECT a FROM VALUES (1) v(a))

-- query: values_values
SELECT (SELECT a FROM VALUES (1) t(a)) + (SELECT b FROM VALUES (2.5) t(b)) AS s

-- query: count_coalesce_sum
SELECT (SELECT count(*) FROM orders WHERE orders.customer_id = customers.customer_id) AS n, (SELECT coalesce(sum(amount), 0) FROM orders WHERE orders.customer_id = customers.customer_id) AS s FROM customers

-- query: where_3
SELECT EXISTS (SELECT * FROM orders) AS e, NOT EXISTS (SELECT 1 FROM orders WHERE amount < 0) AS ne, 1 IN (SELECT quantity FROM orders) AS i, 1 NOT IN (SELECT region_code FROM orders) AS ni

-- query: customer_id_2
SELECT c.customer_id FROM customers c WHERE (SELECT count(*) FROM orders o WHERE o.customer_id = c.customer_id) > 5

-- query: customer_id_3
SELECT c.customer_id FROM customers c ORDER BY (SELECT max(amount) FROM orders)

-- query: join_lateral_where_2
SELECT * FROM customers c JOIN LATERAL (SELECT * FROM orders o WHERE o.customer_id = c.customer_id ORDER BY ordered_at DESC LIMIT 3) x

-- query: order_id_amount
SELECT c.name, o.* FROM customers c LEFT JOIN LATERAL (SELECT order_id, amount FROM orders o WHERE o.customer_id = c.customer_id) o ON o.amount > 5

-- query: cume_dist_row_number
SELECT cume_dist() OVER (ORDER BY amount), row_number() OVER (PARTITION BY status, customer_id % 2 ORDER BY amount DESC, order_id ASC NULLS FIRST) FROM orders

-- query: sum_2
SELECT sum(quantity) OVER (ORDER BY order_date RANGE BETWEEN INTERVAL 1 MONTH PRECEDING AND CURRENT ROW) AS a, sum(quantity) OVER (ORDER BY tax RANGE BETWEEN 1.5 PRECEDING AND CURRENT ROW) AS b, sum(quantity) OVER (ORDER BY order_id RANGE BETWEEN 10L PRECEDING AND CURRENT ROW) AS c FROM orders

-- query: lag_lead
SELECT lag(status, 1, 'none') OVER (ORDER BY order_id) AS a, lag(quantity, 1, 0) OVER (ORDER BY order_id) AS b, lag(quantity, 1, 0L) OVER (ORDER BY order_id) AS c, lag(amount, -1) OVER (ORDER BY order_id) AS d, lead(discount, 1, 0) OVER (ORDER BY order_id) AS e FROM orders

-- query: join_where
SELECT a.*, b.* FROM (SELECT 1 AS x) a LEFT JOIN (SELECT 2 AS x) b ON a.x = b.x WHERE b.x IS NOT NULL

-- query: note_weight
SELECT o.* FROM order_lines l RIGHT JOIN orders o USING (order_id)

-- query: discount_pct_options
SELECT l.* FROM order_lines l RIGHT JOIN orders o USING (order_id)

-- query: note_weight_2
SELECT l.*, o.* FROM order_lines l FULL JOIN orders o USING (order_id)

-- query: tags_referrer_id_2
SELECT c.* FROM orders o JOIN customers c USING (customer_id)

-- query: tags_referrer_id_3
SELECT o.* EXCEPT (customer_id), c.* FROM orders o LEFT JOIN customers c USING (customer_id)

-- query: note_weight_3
SELECT orders.* FROM orders NATURAL JOIN order_lines

-- query: struct_2
SELECT struct(o.*) AS s FROM order_lines l JOIN orders o USING (order_id)

-- query: coalesce_2
SELECT coalesce(*) FROM VALUES (1, 2) t(a, b)

-- query: concat_ws_array_hash
SELECT concat_ws(',', *) AS c, array(*) AS a, hash(*) AS h FROM VALUES ('x', 'y') t(a, b)

-- query: greatest
SELECT greatest(o.quantity, l.*) FROM orders o, (SELECT 1 AS q) l

-- query: coalesce_3
SELECT * FROM VALUES (1, 2) t(a, b) WHERE coalesce(*) = 1

-- query: sum_avg_max
SELECT sum(d5 + d20) AS a, avg(d38) AS b, sum(d380) AS c, max(d5 * d5 * d5) AS d, d5 * d5 * d5 * d5 * d5 * d5 AS e, (d5 + 1) / (d20 - 1) AS f, 1 - d5 AS g, d5 - 1L AS h, 100 * d5 / d20 AS i FROM numbers GROUP BY d5, d20

-- query: avg_sum_round_count_ceil_floor_stddev
SELECT avg(amount) * 1.1 AS a, sum(amount * discount) AS b, sum(amount) / 1000000 AS c, sum(amount * quantity) / sum(quantity) AS d, round(sum(amount) / count(*), 2) AS e, avg(discount) * 100 AS f, CAST(sum(amount) AS DECIMAL(38,2)) AS g, sum(CAST(amount AS DECIMAL(38,10))) AS h, ceil(sum(amount) / 10) AS i, floor(avg(quantity)) AS j, stddev(amount) * 2 AS k, sum(tax * amount) AS l FROM orders
