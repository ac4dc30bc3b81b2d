-- query: statement
VALUES (1, 'a'), (2, 'b')

-- query: alias
SELECT * FROM VALUES (1, 'a') AS t(x, y)

-- query: no_alias
SELECT col1, col2 FROM VALUES (1, 'a')

-- query: widen
SELECT * FROM VALUES (1), (2L), (3.5) AS t(x)

-- query: date_timestamp
SELECT * FROM VALUES (DATE'2020-01-01'), (TIMESTAMP'2020-01-02 00:00:00') AS t(x)

-- query: nullable
SELECT * FROM VALUES (1, NULL), (2, 'b') AS t(x, y)

-- query: array_null_inside
SELECT * FROM VALUES (array(1)), (array(2, NULL)) AS t(x)

-- query: struct
SELECT * FROM VALUES (struct(1 AS a)), (struct(2 AS a)) AS t(x)

-- query: struct_names
SELECT * FROM VALUES (struct(1 AS a)), (struct(2 AS b)) AS t(x)

-- query: struct_field
SELECT x.a FROM VALUES (named_struct('a', 1)), (NULL) AS t(x)

-- query: named_rows
SELECT * FROM VALUES (1 AS a, 2 AS b)

-- query: variant
SELECT * FROM VALUES (parse_json('1')), (parse_json('"a"')) AS t(x)

-- query: join_using
SELECT * FROM VALUES (1) AS a(x) JOIN VALUES (1, 2) AS b(x, y) USING (x)

-- query: in_cte_default
WITH t AS (VALUES (1, 'a')) SELECT col1 FROM t

-- query: in_exists
SELECT 1 AS x WHERE EXISTS (VALUES (1))

-- query: order_by_number
VALUES (2, 'b'), (1, 'a') ORDER BY 2 LIMIT 1

-- query: pivot
SELECT * FROM VALUES ('a', 1), ('b', 2) AS t(k, v) PIVOT (sum(v) FOR k IN ('a', 'b'))

-- query: lateral_view
SELECT x, e FROM VALUES (array(1, 2)) AS t(x) LATERAL VIEW explode(x) v AS e

-- query: float
SELECT * FROM VALUES (1.5F), (2) AS t(x)

-- query: decimal_overflow
SELECT * FROM VALUES (12345678901234567890123456789012345678), (0.5) AS t(x)

-- query: case
SELECT * FROM VALUES (CASE WHEN true THEN 1 END) AS t(x)

-- query: struct_two
SELECT * FROM VALUES (struct(1, 'a')), (struct(2, 'b')) AS t(x, y)

-- query: struct_bare
SELECT * FROM VALUES struct(1, 'a'), struct(2, 'b') AS t(x, y)

-- query: double_parens
SELECT * FROM VALUES ((1, 2)), ((3, 4)) AS t(x, y)

-- query: double_parens_one
SELECT * FROM VALUES ((1)), ((2)) AS t(x)

-- query: unpivot
SELECT * FROM VALUES (1, 2) AS t(a, b) UNPIVOT (v FOR k IN (a, b))

-- query: in_parens
SELECT name FROM staff s WHERE employee_id IN ((VALUES (1)))

-- query: now
SELECT * FROM VALUES (now()) AS t(x)

-- query: sample_parens
SELECT * FROM (VALUES (1), (2)) TABLESAMPLE (1 ROWS)

-- query: cross
SELECT * FROM VALUES (1) AS a(x), VALUES ('p') AS b(y)

-- query: statement_alias
VALUES (1), (2) AS t(x)

-- query: statement_cte
WITH t AS (SELECT 1) VALUES (1)

-- query: bool_null
SELECT * FROM VALUES (true), (NULL) AS t(x)

-- query: array_date_timestamp
SELECT * FROM VALUES (array(DATE'2020-01-01')), (array(TIMESTAMP'2020-01-01 00:00:00')) AS t(x)

-- query: void_struct
SELECT * FROM VALUES (named_struct('a', NULL)), (named_struct('a', 1)) AS t(x)

-- query: alias_table_dup
SELECT t.x FROM VALUES (1) AS t(x), VALUES (2) AS t(y)
