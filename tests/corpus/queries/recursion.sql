-- query: recursive_plain
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 5) SELECT i FROM n

-- query: recursive_max_level
WITH RECURSIVE n(i) MAX RECURSION LEVEL 10 AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 5) SELECT i FROM n

-- query: recursive_parenthesised_steps
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL (SELECT i + 2 FROM n UNION ALL SELECT i + 3 FROM n)) SELECT i FROM n

-- query: recursive_array_path
WITH RECURSIVE h(id, path) AS (SELECT employee_id, array(name) FROM staff UNION ALL SELECT s.employee_id, array_append(h.path, s.name) FROM staff s JOIN h ON s.manager_id = h.id) SELECT * FROM h

-- query: recursive_nullability
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT CASE WHEN i > 3 THEN NULL ELSE i + 1 END FROM n) SELECT i FROM n

-- query: recursive_semi_join_left
WITH RECURSIVE h AS (SELECT employee_id FROM staff UNION ALL SELECT h.employee_id FROM h LEFT SEMI JOIN staff s ON s.manager_id = h.employee_id) SELECT * FROM h

-- query: recursive_in_exists
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT week FROM calendar WHERE EXISTS (SELECT 1 FROM n WHERE i = week)) SELECT i FROM n

-- query: recursive_limit_step
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL (SELECT i + 1 FROM n LIMIT 1)) SELECT i FROM n

-- query: recursive_limit_outside
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i FROM n LIMIT 3

-- query: recursive_uses_earlier
WITH RECURSIVE a(k) AS (SELECT 1), n(i) AS (SELECT k FROM a UNION ALL SELECT i + 1 FROM n, a WHERE i < 5) SELECT i FROM n

-- query: recursive_nested_recursive
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL (WITH RECURSIVE m(j) AS (SELECT 1 UNION ALL SELECT j + 1 FROM m WHERE j < 3) SELECT i + j FROM n, m WHERE i < 5)) SELECT i FROM n

-- query: recursive_in_where
SELECT order_id FROM orders WHERE quantity IN (WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 5) SELECT i FROM n)

-- query: recursive_shadow_table
WITH RECURSIVE staff(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM staff WHERE i < 5) SELECT i FROM staff

-- query: cte_unused_fine
WITH a AS (SELECT name FROM staff) SELECT 1 AS x

-- query: identifier_literal
SELECT * FROM IDENTIFIER('staff')

-- query: identifier_concat
SELECT * FROM IDENTIFIER('sta' || 'ff')

-- query: identifier_column
SELECT IDENTIFIER('name') FROM staff

-- query: identifier_function
SELECT IDENTIFIER('upper')(name) AS u FROM staff

-- query: current_time_bare
SELECT current_time AS a

-- query: right_of_right
WITH RECURSIVE h AS (SELECT employee_id FROM staff UNION ALL SELECT s.employee_id FROM staff s RIGHT JOIN h ON s.manager_id = h.employee_id) SELECT * FROM h

-- query: comma
WITH RECURSIVE h AS (SELECT employee_id FROM staff UNION ALL SELECT s.employee_id FROM staff s, h WHERE s.manager_id = h.employee_id) SELECT * FROM h

-- query: derived_distinct
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT m + 1 FROM (SELECT DISTINCT i AS m FROM n) WHERE m < 4) SELECT i FROM n

-- query: not_in
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT week FROM calendar WHERE week NOT IN (SELECT i FROM n)) SELECT i FROM n

-- query: union_except_step
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL (SELECT i + 1 FROM n EXCEPT SELECT 2)) SELECT i FROM n

-- query: sample_step
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n TABLESAMPLE (50 PERCENT)) SELECT i FROM n

-- query: struct_state
WITH RECURSIVE n(s) AS (SELECT struct(1 AS a, 'x' AS b) UNION ALL SELECT struct(s.a + 1, concat(s.b, 'y')) FROM n WHERE s.a < 4) SELECT s.a, s.b FROM n

-- query: struct_state_names
WITH RECURSIVE n(s) AS (SELECT struct(1 AS a) UNION ALL SELECT struct(s.a + 1 AS b) FROM n) SELECT s FROM n

-- query: array_concat_state
WITH RECURSIVE n(a) AS (SELECT array(1) UNION ALL SELECT a || array(2) FROM n WHERE size(a) < 3) SELECT a FROM n

-- query: decimal_state_cast
WITH RECURSIVE d(x) AS (SELECT CAST(1 AS DECIMAL(10,2)) UNION ALL SELECT CAST(x * 2 AS DECIMAL(10,2)) FROM d WHERE x < 100) SELECT x FROM d

-- query: null_step
WITH RECURSIVE d(x) AS (SELECT 1 UNION ALL SELECT NULL FROM d) SELECT x FROM d

-- query: star_step
WITH RECURSIVE d(x) AS (SELECT 1 UNION ALL SELECT * FROM d WHERE x < 3) SELECT * FROM d

-- query: aliased_columns_step
WITH RECURSIVE d(x) AS (SELECT 1 UNION ALL SELECT e.z + 1 FROM d AS e(z) WHERE e.z < 3) SELECT d.x FROM d

-- query: shadowed_inside
WITH RECURSIVE d(x) AS (SELECT 1 UNION ALL (WITH d AS (SELECT 2 AS x) SELECT x FROM d)) SELECT x FROM d

-- query: max_level_zero
WITH RECURSIVE n(i) MAX RECURSION LEVEL 0 AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i FROM n

-- query: cte_shadows_table
WITH staff AS (SELECT name AS n FROM staff) SELECT n FROM staff

-- query: cte_quoted
WITH `a b` AS (SELECT 1 AS x) SELECT `a b`.x FROM `a b`

-- query: cte_dup_case
WITH a AS (SELECT 1 AS x), A AS (SELECT 2 AS x) SELECT * FROM a

-- query: identifier_backticks
SELECT IDENTIFIER('`Full Name`') FROM legacy

-- query: identifier_alias_case
SELECT IDENTIFIER('NAME') FROM staff

-- query: identifier_table_alias
SELECT t.name FROM IDENTIFIER('staff') t

-- query: grouping_id_sets
SELECT department, grouping__id FROM staff GROUP BY ROLLUP (department)
