-- query: one
WITH paid AS (SELECT * FROM orders WHERE is_paid) SELECT order_id, amount FROM paid

-- query: chain
WITH a AS (SELECT customer_id, amount FROM orders), b AS (SELECT customer_id, sum(amount) AS total FROM a GROUP BY customer_id), c AS (SELECT b.*, total / 2 AS half FROM b) SELECT * FROM c

-- query: used_twice
WITH t AS (SELECT customer_id, amount FROM orders) SELECT x.amount AS a, y.amount AS b FROM t x LEFT JOIN t y ON x.customer_id = y.customer_id

-- query: column_list
WITH t(id, total) AS (SELECT order_id, amount FROM orders) SELECT id, total FROM t

-- query: shadows_table
WITH orders AS (SELECT 1 AS order_id, 'x' AS tag) SELECT * FROM orders

-- query: shadows_table_and_reads_it
WITH orders AS (SELECT order_id, amount FROM orders) SELECT * FROM orders

-- query: inner_shadows_outer
WITH t AS (SELECT 1 AS a) SELECT * FROM (WITH t AS (SELECT 'x' AS a) SELECT a FROM t) u JOIN t ON true

-- query: nested_with
WITH a AS (WITH b AS (SELECT order_id FROM orders) SELECT order_id + 1 AS next FROM b) SELECT next FROM a

-- query: in_subquery
SELECT order_id FROM orders WHERE customer_id IN (WITH c AS (SELECT customer_id FROM customers) SELECT customer_id FROM c)

-- query: outer_cte_in_subquery
WITH top AS (SELECT max(amount) AS m FROM orders) SELECT order_id FROM orders WHERE amount = (SELECT m FROM top)

-- query: case_insensitive_name
WITH Paid AS (SELECT order_id FROM orders) SELECT ORDER_ID FROM PAID

-- query: quoted_name
WITH `my cte` AS (SELECT order_id FROM orders) SELECT * FROM `my cte`

-- query: unused
WITH unused AS (SELECT 1 AS a) SELECT order_id FROM orders

-- query: over_union
WITH t AS (SELECT order_id AS id FROM orders UNION ALL SELECT product_id FROM products) SELECT id FROM t

-- query: with_before_union
WITH t AS (SELECT 1 AS a) SELECT a FROM t UNION ALL SELECT a + 1 FROM t

-- query: recursive_counter
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 10) SELECT i FROM n

-- query: recursive_tree
WITH RECURSIVE chain AS (SELECT employee_id, manager_id, name, 0 AS depth FROM staff WHERE manager_id IS NULL UNION ALL SELECT s.employee_id, s.manager_id, s.name, c.depth + 1 FROM staff s JOIN chain c ON s.manager_id = c.employee_id) SELECT * FROM chain

-- query: recursive_with_strings
WITH RECURSIVE path(id, way) AS (SELECT employee_id, name FROM staff WHERE manager_id IS NULL UNION ALL SELECT s.employee_id, p.way || '/' || s.name FROM staff s JOIN path p ON s.manager_id = p.id) SELECT id, way, length(way) AS len FROM path

-- query: recursive_and_plain
WITH RECURSIVE base AS (SELECT min(day) AS first FROM calendar), days(d) AS (SELECT first FROM base UNION ALL SELECT d + INTERVAL 1 DAY FROM days WHERE d < DATE '2024-12-31') SELECT d FROM days

-- query: recursive_keyword_without_recursion
WITH RECURSIVE t AS (SELECT order_id FROM orders) SELECT * FROM t

-- query: many_models_style
WITH src AS (SELECT * FROM orders), lines AS (SELECT order_id, sum(quantity * unit_price) AS gross, count(*) AS n FROM order_lines GROUP BY order_id), joined AS (SELECT s.order_id, s.customer_id, l.gross, coalesce(l.n, 0) AS n FROM src s LEFT JOIN lines l USING (order_id)), final AS (SELECT *, row_number() OVER (PARTITION BY customer_id ORDER BY gross DESC) AS rank FROM joined) SELECT * FROM final WHERE rank = 1

-- query: cte_with_values
WITH codes(code, label) AS (VALUES ('a', 'Open'), ('b', NULL)) SELECT code, label FROM codes

-- query: cte_in_derived_table
SELECT x FROM (WITH t AS (SELECT amount AS x FROM orders) SELECT x FROM t) d

-- query: cte_in_lateral
SELECT o.order_id, q.v FROM orders o, LATERAL (WITH t AS (SELECT o.amount AS v) SELECT v FROM t) q

-- query: cte_of_table_statement
WITH t AS (TABLE calendar) SELECT day, week FROM t
