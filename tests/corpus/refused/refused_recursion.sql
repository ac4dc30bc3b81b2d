-- query: recursive_max_level_bad
WITH RECURSIVE n(i) MAX RECURSION LEVEL x AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i FROM n

-- query: recursive_without_keyword
WITH n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 5) SELECT i FROM n

-- query: recursive_anchor_second
WITH RECURSIVE n(i) AS (SELECT i + 1 FROM n UNION ALL SELECT 1) SELECT i FROM n

-- query: recursive_both_sides
WITH RECURSIVE n(i) AS (SELECT i FROM n UNION ALL SELECT i + 1 FROM n) SELECT i FROM n

-- query: recursive_union_distinct
WITH RECURSIVE n(i) AS (SELECT 1 UNION DISTINCT SELECT i + 1 FROM n) SELECT i FROM n

-- query: recursive_except
WITH RECURSIVE n(i) AS (SELECT 1 EXCEPT SELECT i + 1 FROM n) SELECT i FROM n

-- query: recursive_two_steps
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 2 FROM n WHERE i < 9 UNION ALL SELECT i + 3 FROM n WHERE i < 9) SELECT i FROM n

-- query: recursive_left_join_right
WITH RECURSIVE h AS (SELECT employee_id FROM staff UNION ALL SELECT s.employee_id FROM staff s LEFT JOIN h ON s.manager_id = h.employee_id) SELECT * FROM h

-- query: recursive_right_join_left
WITH RECURSIVE h AS (SELECT employee_id FROM staff UNION ALL SELECT s.employee_id FROM h RIGHT JOIN staff s ON s.manager_id = h.employee_id) SELECT * FROM h

-- query: recursive_full_join
WITH RECURSIVE h AS (SELECT employee_id FROM staff UNION ALL SELECT s.employee_id FROM h FULL JOIN staff s ON s.manager_id = h.employee_id) SELECT * FROM h

-- query: recursive_semi_join_right
WITH RECURSIVE h AS (SELECT employee_id FROM staff UNION ALL SELECT s.employee_id FROM staff s LEFT SEMI JOIN h ON s.manager_id = h.employee_id) SELECT * FROM h

-- query: recursive_anti_join
WITH RECURSIVE h AS (SELECT employee_id FROM staff UNION ALL SELECT s.employee_id FROM staff s LEFT ANTI JOIN h ON s.manager_id = h.employee_id) SELECT * FROM h

-- query: recursive_in_scalar
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT (SELECT max(i) FROM n) + 1 FROM calendar) SELECT i FROM n

-- query: recursive_aggregate
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT max(i) + 1 FROM n) SELECT i FROM n

-- query: recursive_group_by
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n GROUP BY i) SELECT i FROM n

-- query: recursive_window_step
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT row_number() OVER (ORDER BY i) FROM n) SELECT i FROM n

-- query: recursive_order_step
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL (SELECT i + 1 FROM n ORDER BY i)) SELECT i FROM n

-- query: recursive_order_in_body
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 4 ORDER BY 1) SELECT i FROM n

-- query: recursive_limit_in_body
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 5) SELECT i FROM n

-- query: recursive_type_decimal
WITH RECURSIVE n(i) AS (SELECT 1.0 UNION ALL SELECT i * 1.5 FROM n) SELECT i FROM n

-- query: recursive_type_null
WITH RECURSIVE n(i) AS (SELECT NULL UNION ALL SELECT 1 FROM n) SELECT i FROM n

-- query: recursive_arity
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i, i FROM n) SELECT i FROM n

-- query: recursive_alias_arity
WITH RECURSIVE n(i, j) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i FROM n

-- query: recursive_mutual
WITH RECURSIVE a(i) AS (SELECT 1 UNION ALL SELECT i FROM b), b(i) AS (SELECT 1 UNION ALL SELECT i FROM a) SELECT i FROM a

-- query: recursive_correlated
SELECT name, (WITH RECURSIVE n(i) AS (SELECT employee_id UNION ALL SELECT i + 1 FROM n WHERE i < 5) SELECT max(i) FROM n) AS m FROM staff

-- query: recursive_empty_from
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1) SELECT i FROM n

-- query: cte_duplicate_names
WITH a AS (SELECT 1 AS x), a AS (SELECT 2 AS x) SELECT * FROM a

-- query: cte_column_arity
WITH a(x, y) AS (SELECT 1) SELECT * FROM a

-- query: cte_qualified_name
WITH s.a AS (SELECT 1 AS x) SELECT * FROM a

-- query: cte_trailing_comma
WITH a AS (SELECT 1 AS x), SELECT * FROM a

-- query: cte_materialized
WITH a AS MATERIALIZED (SELECT 1 AS x) SELECT * FROM a

-- query: parameter_named
SELECT order_id FROM orders WHERE order_id = :id

-- query: parameter_in_select
SELECT :x AS a

-- query: parameter_in_identifier
SELECT * FROM IDENTIFIER(:t)

-- query: parameter_in_interval
SELECT INTERVAL :n DAY AS i

-- query: parameter_space
SELECT : x AS a

-- query: identifier_number
SELECT IDENTIFIER(1) FROM staff

-- query: identifier_column_argument
SELECT IDENTIFIER(name) FROM staff

-- query: variable_session
SELECT session.x AS a

-- query: variable_unqualified
SELECT my_variable AS a

-- query: variable_at
SELECT @x AS a

-- query: variable_dollar
SELECT $x AS a

-- query: grouping_id_bare
SELECT grouping__id FROM staff

-- query: metadata_column
SELECT _metadata FROM staff

-- query: middle_then_right
WITH RECURSIVE h AS (SELECT employee_id FROM staff UNION ALL SELECT s.employee_id FROM staff s JOIN h ON s.manager_id = h.employee_id RIGHT JOIN calendar k ON k.week = s.employee_id) SELECT * FROM h

-- query: derived_window
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT m + 1 FROM (SELECT row_number() OVER (ORDER BY i) AS m FROM n)) SELECT i FROM n

-- query: aggregate_above
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT max(m) + 1 FROM (SELECT i AS m FROM n WHERE i < 4)) SELECT i FROM n

-- query: having
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT 1 FROM n HAVING count(*) > 1) SELECT i FROM n

-- query: scalar_where
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT week FROM calendar WHERE week > (SELECT count(*) FROM n)) SELECT i FROM n

-- query: pivot_step
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT `1` FROM n PIVOT (max(i) FOR i IN (1))) SELECT i FROM n

-- query: decimal_state_plus
WITH RECURSIVE d(x) AS (SELECT CAST(1 AS DECIMAL(10,2)) UNION ALL SELECT x + 1 FROM d WHERE x < 100) SELECT x FROM d

-- query: int_div
WITH RECURSIVE d(x) AS (SELECT 100 UNION ALL SELECT x DIV 2 FROM d WHERE x > 1) SELECT x FROM d

-- query: anchor_names_hidden
WITH RECURSIVE d(x) AS (SELECT 1 AS a UNION ALL SELECT a + 1 FROM d) SELECT x FROM d

-- query: max_level_no_number
WITH RECURSIVE n(i) MAX RECURSION LEVEL AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i FROM n

-- query: max_level_not_recursive
WITH n(i) MAX RECURSION LEVEL 5 AS (SELECT 1) SELECT i FROM n

-- query: keyword_wrong
WITH RECURSIV n(i) AS (SELECT 1) SELECT i FROM n

-- query: cte_inner_not_outside
WITH a AS (WITH b AS (SELECT 1 AS x) SELECT x FROM b) SELECT x FROM b

-- query: cte_correlated_two
SELECT name FROM customers c WHERE EXISTS (WITH t AS (SELECT 1 AS x FROM orders o WHERE EXISTS (SELECT 1 FROM staff s WHERE s.name = c.name)) SELECT x FROM t)

-- query: parameter_in_list
SELECT order_id FROM orders WHERE order_id IN (:a, :b)

-- query: parameter_two_marks
SELECT ? + ? AS a

-- query: parameter_values
SELECT * FROM VALUES (:x) AS t(a)

-- query: parameter_array
SELECT array(:x)[0] AS a

-- query: identifier_null
SELECT IDENTIFIER(NULL) FROM staff

-- query: identifier_bad_text
SELECT IDENTIFIER('a b') FROM staff

-- query: metadata_other
SELECT _metadata.file_path FROM staff

-- query: builtin_qualified
SELECT builtin.upper(name) AS u, system.builtin.upper(name) AS v FROM staff

-- query: global_temp_join
SELECT * FROM staff s JOIN global_temp.g ON true

-- query: spark_catalog
SELECT * FROM spark_catalog.default.nothing
