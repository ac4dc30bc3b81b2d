-- query: weight_name
SELECT o.*, c.name FROM orders o JOIN customers c USING (customer_id)

-- query: except
SELECT * EXCEPT (note, weight) FROM orders

-- query: tags_referrer_id
SELECT o.* EXCEPT (status), c.* EXCEPT (customer_id, address) FROM orders o LEFT JOIN customers c ON o.customer_id = c.customer_id

-- query: order_id_amount
SELECT orders.order_id, `orders`.`amount`, Orders.STATUS FROM orders

-- query: select
SELECT `Full Name`, `select`, `a.b`, nested.`Odd Name`, nested.`x.y`, legacy.`Größe` FROM legacy

-- query: plain
SELECT l.`a.b` + 1 AS `x.y`, l.nested.`x.y` AS `z``w` FROM legacy l

-- query: plain_2
SELECT 1 AS a, a + 1 AS b, b * 2.5 AS c, c || 'x' AS d

-- query: dbl_third
SELECT amount * 2 AS dbl, dbl / 3 AS third, round(third, 1) AS r FROM orders

-- query: quantity
SELECT amount AS quantity, quantity + 1 AS q FROM orders

-- query: mean_big
SELECT sum(amount) AS total, total / count(*) AS mean, mean > 5 AS big FROM orders GROUP BY status

-- query: status
SELECT status, count(*) AS n, n * 2 AS m FROM orders GROUP BY status HAVING m > 4 ORDER BY m

-- query: order
SELECT amount AS a FROM orders ORDER BY amount

-- query: order_id
SELECT amount AS order_id FROM orders ORDER BY order_id

-- query: amount
SELECT -amount AS amount FROM orders ORDER BY amount, abs(amount)

-- query: where_order
SELECT status AS s FROM orders WHERE status = 'x' ORDER BY s, status

-- query: quantity_2
SELECT DISTINCT status AS s, quantity FROM orders ORDER BY quantity, s

-- query: status_2
SELECT upper(status) AS status, count(*) FROM orders GROUP BY status

-- query: status_3
SELECT upper(status) AS status, count(*) FROM orders GROUP BY upper(status)

-- query: status_4
SELECT status FROM orders GROUP BY status HAVING count(*) > 1 AND max(amount) > (SELECT avg(amount) FROM orders)

-- query: customer_id_last
SELECT customer_id, max(ordered_at) AS last FROM orders GROUP BY customer_id ORDER BY max(ordered_at) DESC, sum(amount)

-- query: order_id_2
SELECT order_id FROM orders ORDER BY 1

-- query: order_id_amount_2
SELECT order_id, amount FROM orders ORDER BY ALL

-- query: order_id_3
SELECT order_id FROM orders DISTRIBUTE BY status SORT BY amount

-- query: order_id_4
SELECT order_id FROM orders CLUSTER BY status

-- query: order_id_5
SELECT order_id FROM orders LIMIT 10 OFFSET 5

-- query: order_id_6
SELECT order_id FROM orders OFFSET 2

-- query: order_id_name
SELECT /*+ BROADCAST(c) */ o.order_id, c.name FROM orders o JOIN customers c ON o.customer_id = c.customer_id

-- query: note_weight
SELECT /*+ REPARTITION(5, status), COALESCE(2) */ * FROM orders

-- query: plain_3
SELECT /*+ NOSUCHHINT(x) */ 1 AS a -- trailing comment

-- query: plain_4
SELECT 1 /* block /* nested */ comment */ AS a, 2 AS b -- end

-- query: order_id_7
SELECT order_id FROM orders TABLESAMPLE (10 PERCENT)

-- query: order_id_8
SELECT order_id FROM orders TABLESAMPLE (5 ROWS) AS s

-- query: order_id_9
SELECT order_id FROM orders TABLESAMPLE (BUCKET 1 OUT OF 4) REPEATABLE (42) s WHERE s.amount > 1

-- query: col1
VALUES 1, 2, 3

-- query: col1_col2
VALUES (1, 'a'), (2, NULL)

-- query: values
SELECT * FROM VALUES (1, 'a', 1.5), (2L, NULL, 2) AS t(a, b, c)

-- query: array
SELECT * FROM (VALUES (array(1)), (array(NULL))) t(x)

-- query: col2
SELECT col1 + 1 AS x, col2 FROM VALUES (1, 'z')

-- query: order_id_10
(SELECT order_id FROM orders) UNION (SELECT product_id FROM products)

-- query: order_id_amount_3
FROM orders SELECT order_id, amount WHERE amount > 1

-- query: note_weight_2
FROM orders

-- query: join
SELECT * FROM (SELECT 1 AS a) CROSS JOIN (SELECT 'x' AS b) t

-- query: plain_5
SELECT 1 FROM orders HAVING true

-- query: where
SELECT t.x FROM (SELECT amount AS x FROM orders) AS t WHERE t.x > 0

-- query: named_struct
SELECT a.b.c FROM (SELECT named_struct('b', named_struct('c', 1)) AS a)

-- query: named_struct_2
SELECT a.b FROM (SELECT named_struct('b', 1) AS a) a

-- query: plain_6
SELECT NULL AS a, TRUE AS b, false AS c, 'it''s' AS d, "double" AS e, 'a' 'b' AS f, r'raw\n' AS g, R"raw\d" AS h, 'tab\t\u0041' AS i, X'1F2A' AS j, x'' AS k, 'é' AS l

-- query: plain_7
SELECT 'line1\nline2' AS a, '%\_' AS b, '\'' AS c, "it's" AS d, 'a"b' AS e, '\\' AS f, '\101' AS g

-- query: typeof
SELECT typeof(1Y) AS a, typeof(1.0) AS b, typeof(X'00') AS c, typeof(INTERVAL 1 DAY) AS d, typeof(NULL) AS e

-- query: plain_8
SELECT +1 AS a, -(-1) AS b, - 1.5D AS c, 1 - -1 AS d, 2 * -3 AS e, -1L AS f, -128Y AS g, -32768S AS h, ~-1 AS i

-- query: plain_9
SELECT timestamp'2020-01-01 12:00:00.123456 Europe/Berlin' AS a, timestamp_ntz'2020-01-01' AS b, date'2020-1-1' AS c, TIMESTAMP'now' IS NULL AS d

-- query: count_sum
SELECT count(*) AS `count(*)`, sum(1) FROM orders

-- query: plain_10
SELECT 1 = 1 AND NOT 2 > 3 OR false AS a, NOT true AND false AS b, 1 + 2 * 3 % 2 AS c, 5 / 2 * 2 AS d, 1 | 2 & 3 ^ 4 AS e, 'a' || 'b' = 'ab' AS f, 1 < 2 = true AS g, NOT 1 IN (1) AS h, 2 BETWEEN 1 AND 3 AND true AS i

-- query: join_2
SELECT * FROM orders NATURAL JOIN order_lines

-- query: join_3
SELECT * FROM orders NATURAL LEFT JOIN customers

-- query: join_using_join
SELECT * FROM order_lines l JOIN orders o USING (order_id) JOIN customers c USING (customer_id) JOIN products p USING (product_id)

-- query: order_id_order_id
SELECT order_id, l.order_id, o.order_id FROM orders o FULL OUTER JOIN order_lines l USING (order_id)

-- query: order_id_quantity
SELECT order_id, quantity FROM orders o RIGHT JOIN (SELECT order_id FROM order_lines) l USING (order_id)

-- query: join_4
SELECT * FROM orders o FULL JOIN customers c ON o.customer_id = c.customer_id

-- query: customer_id
SELECT customer_id FROM orders FULL JOIN customers USING (customer_id) FULL JOIN events USING (customer_id)

-- query: join_5
SELECT * FROM customers c LEFT SEMI JOIN orders o ON c.customer_id = o.customer_id

-- query: tags_referrer_id_2
SELECT c.* FROM customers c LEFT ANTI JOIN orders o USING (customer_id)

-- query: join_using
SELECT * FROM customers SEMI JOIN orders USING (customer_id)

-- query: order_id_order_id_2
SELECT a.order_id, b.order_id, c.order_id FROM orders a LEFT JOIN orders b ON a.order_id = b.order_id RIGHT JOIN orders c ON b.order_id = c.order_id

-- query: lateral_where
SELECT * FROM orders o, customers c, LATERAL (SELECT o.amount * 2 AS dbl, c.name AS nm) x WHERE o.customer_id = c.customer_id

-- query: order_id_total
SELECT o.order_id, t.total FROM orders o LEFT JOIN LATERAL (SELECT sum(l.unit_price * l.quantity) AS total FROM order_lines l WHERE l.order_id = o.order_id) t ON true

-- query: name
SELECT c.name, x.n FROM customers c CROSS JOIN LATERAL (SELECT count(*) AS n FROM orders o WHERE o.customer_id = c.customer_id) x

-- query: join_join
SELECT * FROM (orders o JOIN customers c ON o.customer_id = c.customer_id) JOIN products p ON p.product_id = o.quantity

-- query: order_id_11
SELECT o.order_id FROM orders o JOIN (customers c JOIN staff s ON c.customer_id = s.employee_id) ON o.customer_id = c.customer_id

-- query: pair
SELECT (o.order_id, c.name) AS pair FROM orders o INNER JOIN customers AS c ON (o.customer_id = c.customer_id) WHERE c.country IS NULL

-- query: qty_price
SELECT e.event_id, i.* FROM events e LEFT JOIN LATERAL inline(e.items) AS i ON i.qty > 1

-- query: name_boss
SELECT s.name, m.name AS boss, coalesce(m.name, 'none') AS b2 FROM staff s LEFT JOIN staff m ON s.manager_id = m.employee_id

-- query: order_id_status
SELECT order_id, status FROM orders UNION SELECT product_id, sku FROM products

-- query: union_union
SELECT 1 AS a UNION ALL SELECT 2.5 UNION ALL SELECT NULL

-- query: union
SELECT NULL AS a UNION ALL SELECT DATE'2020-01-01'

-- query: except_2
SELECT 1 AS a INTERSECT SELECT 1L EXCEPT SELECT 2

-- query: union_except_order
(SELECT 1 AS a UNION SELECT 2) EXCEPT (SELECT 3L INTERSECT SELECT 4) ORDER BY a LIMIT 3

-- query: union_union_2
SELECT order_date AS d FROM orders UNION ALL SELECT ordered_at FROM orders UNION ALL SELECT due_date FROM orders

-- query: amount_2
SELECT amount FROM orders EXCEPT ALL SELECT price FROM products

-- query: quantity_3
SELECT quantity FROM orders MINUS SELECT product_id FROM products

-- query: array_2
SELECT array(1) AS s UNION ALL SELECT array(2.5, NULL)

-- query: union_order
SELECT status AS s, 1 AS n FROM orders UNION ALL SELECT 5, 'x' ORDER BY s, n

-- query: kind
SELECT 'a' AS kind, count(*) AS n FROM orders UNION ALL SELECT 'b', count(*) FROM customers UNION ALL SELECT 'c', sum(quantity) FROM order_lines

-- query: union_union_union
SELECT a FROM (SELECT 1 AS a UNION SELECT 2) UNION ALL (SELECT 3 UNION SELECT 'x')

-- query: union_union_union_2
SELECT d5 AS x FROM numbers UNION SELECT d20 FROM numbers UNION SELECT i FROM numbers UNION SELECT d38 FROM numbers

-- query: lead_time
SELECT lead_time FROM products UNION ALL SELECT INTERVAL 1 DAY

-- query: one
SELECT (SELECT max(amount) FROM orders) AS m, (SELECT count(*) FROM customers) AS n, (SELECT 1) AS one, (SELECT name FROM customers LIMIT 1) AS nm

-- query: name_total
SELECT c.name, (SELECT sum(o.amount) FROM orders o WHERE o.customer_id = c.customer_id) AS total, (SELECT count(*) FROM orders o WHERE o.customer_id = c.customer_id) AS n FROM customers c

-- query: where_where
SELECT * FROM orders o WHERE EXISTS (SELECT 1 FROM order_lines l WHERE l.order_id = o.order_id AND l.quantity > o.quantity)

-- query: where_where_2
SELECT * FROM orders WHERE customer_id NOT IN (SELECT customer_id FROM customers WHERE country = 'x')

-- query: order_id_12
SELECT order_id FROM orders WHERE (customer_id, status) IN (SELECT customer_id, country FROM customers)

-- query: known_has_staff
SELECT order_id, customer_id IN (SELECT customer_id FROM customers) AS known, EXISTS (SELECT 1 FROM staff) AS has_staff, status IN (SELECT country FROM customers) AS s FROM orders

-- query: status_5
SELECT status, sum(amount) FROM orders GROUP BY status HAVING sum(amount) > (SELECT avg(amount) FROM orders) ORDER BY (SELECT max(quantity) FROM orders)

-- query: min
SELECT * FROM (SELECT * FROM (SELECT order_id AS id FROM orders WHERE amount > (SELECT min(price) FROM products)) a) b

-- query: order_id_13
SELECT o.order_id FROM orders o WHERE o.amount = (SELECT max(i.amount) FROM orders i WHERE i.customer_id = o.customer_id AND i.order_date = (SELECT max(order_date) FROM orders z WHERE z.customer_id = i.customer_id))

-- query: array_struct_max_coalesce
SELECT array((SELECT 1), 2) AS a, struct((SELECT max(amount) FROM orders) AS m) AS s, coalesce((SELECT max(amount) FROM orders), 0) AS c, CASE WHEN EXISTS (SELECT 1) THEN 1 ELSE 2 END AS e

-- query: order_id_14
SELECT o.order_id FROM orders o JOIN customers c ON o.customer_id = c.customer_id AND o.amount > (SELECT avg(amount) FROM orders)

-- query: struct_max_min
SELECT (SELECT struct(max(amount) AS mx, min(amount) AS mn) FROM orders).mx AS m

-- query: first_order
SELECT (SELECT collect_list(order_id) FROM orders o WHERE o.customer_id = c.customer_id)[0] AS first_order FROM customers c

-- query: with_join_union
WITH a AS (SELECT 1 AS x), b AS (SELECT x + 1 AS y FROM a), c AS (SELECT * FROM a CROSS JOIN b) SELECT * FROM c UNION ALL SELECT y, x FROM c

-- query: amount_3
WITH orders AS (SELECT order_id, 'fake' AS amount FROM orders) SELECT amount FROM orders

-- query: with_with
WITH t AS (SELECT 1 AS a), u AS (WITH t AS (SELECT 'x' AS a) SELECT a FROM t) SELECT t.a, u.a FROM t, u

-- query: with_with_2
WITH t AS (SELECT 1 AS a) SELECT (WITH t AS (SELECT 2.5 AS a) SELECT a FROM t) AS s, a FROM t

-- query: with_union_where
WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r WHERE n < 10) SELECT n, n * n AS sq FROM r

-- query: depth_path
WITH RECURSIVE tree AS (SELECT employee_id, manager_id, name, 0 AS depth, CAST(name AS STRING) AS path FROM staff WHERE manager_id IS NULL UNION ALL SELECT s.employee_id, s.manager_id, s.name, t.depth + 1, concat(t.path, '/', s.name) FROM staff s JOIN tree t ON s.manager_id = t.employee_id) SELECT * FROM tree

-- query: with_union_limit
WITH RECURSIVE r MAX RECURSION LEVEL 20 AS (SELECT 1 AS n UNION ALL SELECT n + 1 FROM r) SELECT * FROM r LIMIT 5

-- query: with_union_where_2
WITH RECURSIVE fib AS (SELECT 0L AS a, 1L AS b UNION ALL SELECT b, a + b FROM fib WHERE b < 100) SELECT a FROM fib

-- query: day_dow
WITH RECURSIVE d(day) AS (VALUES (DATE'2024-01-01') UNION ALL SELECT day + 1 FROM d WHERE day < DATE'2024-02-01') SELECT day, dayofweek(day) AS dow FROM d

-- query: count
WITH a(x, y) AS (VALUES (1, 'a'), (2, NULL)) SELECT y, count(x) FROM a GROUP BY y

-- query: order_id_15
WITH a AS (SELECT * FROM orders) SELECT x.order_id FROM a x JOIN a y USING (order_id)

-- query: sum
SELECT * FROM (SELECT status, region_code, amount FROM orders) PIVOT (sum(amount) FOR status IN ('new', 'paid' AS p))

-- query: sum_max
SELECT * FROM (SELECT customer_id, status, amount, quantity FROM orders) PIVOT (sum(amount) AS total, max(quantity) AS q FOR status IN ('a' AS a, 'b' AS b))

-- query: year_quarter_avg
SELECT * FROM (SELECT year(order_date) AS y, quarter(order_date) AS q, amount FROM orders) PIVOT (avg(amount) FOR q IN (1, 2, 3, 4)) ORDER BY y

-- query: count_2
SELECT * FROM (SELECT status, is_gift, amount FROM orders) PIVOT (count(*) FOR (status, is_gift) IN (('a', true) AS x, ('b', false)))

-- query: unpivot
SELECT * FROM quarterly_sales UNPIVOT (amount FOR quarter IN (q1, q2))

-- query: unpivot_2
SELECT * FROM quarterly_sales UNPIVOT INCLUDE NULLS (amount FOR quarter IN (q1 AS `Q1`, q2 AS `Q2`, q3, q4))

-- query: unpivot_3
SELECT * FROM quarterly_sales UNPIVOT ((a, b) FOR half IN ((q1, q2) AS h1, (q3, q4) AS h2))

-- query: region_quarter
SELECT region, quarter, sum(amount) AS s FROM quarterly_sales UNPIVOT EXCLUDE NULLS (amount FOR quarter IN (q1, q2, q3, q4)) u GROUP BY ALL

-- query: order_id_dbl
FROM orders |> WHERE amount > 10 |> SELECT order_id, amount * 2 AS dbl |> ORDER BY dbl DESC |> LIMIT 5

-- query: status_total
FROM orders |> EXTEND amount * quantity AS gross, year(order_date) AS y |> AGGREGATE sum(gross) AS total, count(*) AS n GROUP BY y, status

-- query: amount_status
FROM orders |> SET amount = amount * 2, status = upper(status) |> DROP note, weight |> AS o |> SELECT o.amount, o.status

-- query: ctry
FROM orders |> JOIN customers USING (customer_id) |> AGGREGATE max(amount) GROUP BY country AS ctry |> WHERE ctry IS NOT NULL

-- query: order_id_name_2
FROM orders |> LEFT JOIN customers c ON orders.customer_id = c.customer_id |> SELECT order_id, name

-- query: order_id_16
SELECT order_id FROM orders |> UNION ALL (SELECT product_id FROM products) |> WHERE order_id > 1

-- query: sum_2
FROM orders |> SELECT status, amount |> PIVOT (sum(amount) FOR status IN ('a', 'b'))

-- query: avg
FROM quarterly_sales |> UNPIVOT (v FOR q IN (q1, q2)) |> AGGREGATE avg(v) AS m GROUP BY q

-- query: count_3
FROM orders |> AGGREGATE count(*) AS n |> EXTEND n + 1 AS m

-- query: note_weight_3
FROM orders |> EXTEND row_number() OVER (PARTITION BY customer_id ORDER BY ordered_at DESC) AS rn |> WHERE rn = 1 |> DROP rn

-- query: col1_2
VALUES (1, 'a'), (2, 'b') |> SELECT col1, upper(col2) AS u
