-- query: natural_plain
SELECT * FROM orders NATURAL JOIN order_lines

-- query: natural_right
SELECT order_id, customer_id, name FROM customers NATURAL RIGHT JOIN orders

-- query: natural_duplicate_left
SELECT * FROM (SELECT 1 AS a, 2 AS a) x NATURAL JOIN (SELECT 1 AS a) y

-- query: natural_duplicate_right
SELECT * FROM (SELECT 1 AS a) x NATURAL JOIN (SELECT 1 AS a, 2 AS a) y

-- query: natural_duplicate_uncommon
SELECT * FROM (SELECT 1 AS a, 2 AS b, 3 AS b) x NATURAL JOIN (SELECT 1 AS a) y

-- query: natural_case
SELECT * FROM (SELECT 1 AS A) x NATURAL JOIN (SELECT 1 AS a) y

-- query: natural_full_decimal
SELECT a FROM (SELECT 1.5 AS a) x NATURAL FULL JOIN (SELECT 2 AS a) y

-- query: natural_left_qualified
SELECT o.customer_id AS a, c.customer_id AS b, customer_id FROM customers c NATURAL LEFT JOIN orders o

-- query: natural_star_of_each
SELECT c.*, o.order_id FROM customers c NATURAL JOIN orders o

-- query: natural_chain_ambiguous
SELECT * FROM (SELECT 1 AS a) x JOIN (SELECT 2 AS a) y NATURAL JOIN (SELECT 1 AS a) z

-- query: using_plain
SELECT * FROM orders JOIN order_lines USING (order_id)

-- query: using_repeated
SELECT * FROM orders JOIN order_lines USING (order_id, order_id)

-- query: using_duplicate_left
SELECT * FROM (SELECT 1 AS a, 2 AS a) x JOIN (SELECT 1 AS a) y USING (a)

-- query: using_duplicate_right
SELECT * FROM (SELECT 1 AS a) x JOIN (SELECT 1 AS a, 2 AS a) y USING (a)

-- query: using_case_right
SELECT * FROM (SELECT 1 AS Key) x RIGHT JOIN (SELECT 1 AS KEY) y USING (kEy)

-- query: using_left_nullable
SELECT customer_id, c.customer_id AS a, o.customer_id AS b FROM customers c LEFT JOIN orders o USING (customer_id)

-- query: using_types
SELECT product_id FROM products JOIN (SELECT 1L AS product_id) y USING (product_id)

-- query: using_struct
SELECT address FROM customers a JOIN customers b USING (address)

-- query: using_three_left_right
SELECT a, x.a AS xa, y.a AS ya, z.a AS za FROM (SELECT 1 AS a) x LEFT JOIN (SELECT 2 AS a) y USING (a) RIGHT JOIN (SELECT 3 AS a) z USING (a)

-- query: using_group_by
SELECT order_id, count(*) AS n FROM orders JOIN order_lines USING (order_id) GROUP BY order_id

-- query: using_self_no_alias
SELECT employee_id FROM staff JOIN staff USING (employee_id)

-- query: same_alias_twice_reference
SELECT a.name FROM staff a JOIN calendar a

-- query: comma_scope_on
SELECT 1 AS x FROM calendar k, orders o JOIN order_lines l ON l.order_id = k.week

-- query: join_parenthesised_alias
SELECT t.order_id FROM (orders o JOIN customers c ON o.customer_id = c.customer_id) t

-- query: full_without_on
SELECT o.order_id, c.name FROM orders o FULL JOIN customers c

-- query: union_duplicate_names
SELECT 1 AS a, 2 AS a UNION ALL SELECT 3, 4

-- query: intersect_all_duplicate
SELECT 1 AS a, 2 AS a INTERSECT ALL SELECT 3, 4

-- query: minus_duplicate
SELECT 1 AS a, 2 AS a MINUS SELECT 3, 4

-- query: union_right_duplicates
SELECT 1 AS a, 2 AS b UNION ALL SELECT quantity, quantity FROM orders

-- query: union_order_by_expression
SELECT 1 AS a UNION ALL SELECT 2 AS b ORDER BY a + 1

-- query: union_order_by_table_column
SELECT order_id FROM orders UNION ALL SELECT order_id FROM order_lines ORDER BY orders.order_id

-- query: intersect_nullability_right
SELECT order_date AS d FROM orders INTERSECT SELECT due_date FROM orders

-- query: intersect_types
SELECT 1 AS a INTERSECT SELECT 2L

-- query: intersect_date_text
SELECT order_date AS d FROM orders INTERSECT SELECT note FROM orders

-- query: union_struct_names
SELECT struct(1 AS a, 2 AS b) AS s UNION ALL SELECT struct(3 AS c, 4 AS d)

-- query: union_map_values
SELECT map('a', 1) AS s UNION ALL SELECT map('b', 2L)

-- query: union_variant
SELECT body FROM events UNION ALL SELECT body FROM events

-- query: union_binary_text
SELECT photo AS a FROM products UNION ALL SELECT sku FROM products

-- query: set_limit_in_parens
(SELECT 1 AS a LIMIT 1) UNION ALL (SELECT 2 ORDER BY 1)

-- query: set_values
VALUES (1, 2) UNION ALL VALUES (3, 4)

-- query: natural_both_duplicated
SELECT * FROM (SELECT 1 AS a, 2 AS a) x NATURAL JOIN (SELECT 1 AS a, 2 AS a) y

-- query: natural_left_types
SELECT a FROM (SELECT 1 AS a) x NATURAL LEFT JOIN (SELECT 2L AS a) y

-- query: using_array
SELECT sizes FROM products a JOIN products b USING (sizes)

-- query: using_three_ambiguous
SELECT * FROM (SELECT 1 AS a) x JOIN (SELECT 1 AS a) y ON true JOIN (SELECT 1 AS a) z USING (a)

-- query: using_right_star
SELECT * FROM staff a RIGHT JOIN (SELECT employee_id, 1 AS z FROM staff) b USING (employee_id)

-- query: using_text_int
SELECT k FROM (SELECT note AS k FROM orders) a JOIN (SELECT quantity AS k FROM orders) b USING (k)

-- query: using_in_pipe_hidden
FROM orders o |> JOIN order_lines l USING (order_id) |> SELECT l.order_id, o.order_id AS p

-- query: using_lateral_view
SELECT order_id, k FROM orders JOIN order_lines USING (order_id) LATERAL VIEW explode(options) v AS k, v

-- query: using_in_exists
SELECT 1 AS x FROM orders o WHERE EXISTS (SELECT 1 FROM orders a JOIN order_lines b USING (order_id) WHERE order_id = o.order_id)

-- query: intersect_qualifier
SELECT o.order_id FROM orders o INTERSECT SELECT l.order_id FROM order_lines l ORDER BY o.order_id

-- query: union_struct_names_map
SELECT map('k', struct(1 AS a)) AS s UNION ALL SELECT map('k', struct(2 AS b))

-- query: union_struct_names_three
SELECT struct(1 AS a) AS s UNION ALL SELECT struct(2 AS b) UNION ALL SELECT struct(3 AS c)

-- query: union_order_subquery
SELECT order_id AS k FROM orders UNION ALL SELECT order_id FROM order_lines ORDER BY (SELECT 1)

-- query: union_cte_parens
SELECT 1 AS a UNION ALL (WITH t AS (SELECT 2 AS a) SELECT a FROM t)

-- query: union_date_timestamp
SELECT order_date AS d FROM orders UNION ALL SELECT ordered_at FROM orders

-- query: union_decimal_decimal
SELECT amount AS d FROM orders UNION ALL SELECT d38 FROM numbers

-- query: natural_using_on_three
SELECT c.name, o.status, l.line_no FROM customers c NATURAL JOIN orders o JOIN order_lines l USING (order_id)

-- query: cross_on
SELECT a.name FROM staff a CROSS JOIN staff b ON a.employee_id = b.manager_id
