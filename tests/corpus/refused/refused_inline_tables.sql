-- query: too_few_aliases
SELECT * FROM VALUES (1, 'a') AS t(x)

-- query: int_text
SELECT * FROM VALUES (1), ('a') AS t(x)

-- query: int_bool
SELECT * FROM VALUES (1), (true) AS t(x)

-- query: date_int
SELECT * FROM VALUES (1), (DATE'2020-01-01') AS t(x)

-- query: array_scalar
SELECT * FROM VALUES (array(1)), (1) AS t(x)

-- query: row_arity
SELECT * FROM VALUES (1, 2), (3) AS t(x, y)

-- query: empty_row
SELECT * FROM VALUES () AS t(x)

-- query: empty
SELECT * FROM VALUES AS t(x)

-- query: rand
SELECT * FROM VALUES (rand()) AS t(x)

-- query: aggregate
SELECT * FROM VALUES (max(1)) AS t(x)

-- query: generator
SELECT * FROM VALUES (explode(array(1))) AS t(x)

-- query: column
SELECT * FROM VALUES (order_id) AS t(x)

-- query: star
SELECT * FROM VALUES (*) AS t(x)

-- query: subquery
SELECT * FROM VALUES ((SELECT max(amount) FROM orders)) AS t(x)

-- query: lambda
SELECT * FROM VALUES (transform(array(1), x -> x + 1)) AS t(x)

-- query: interval_families
SELECT * FROM VALUES (INTERVAL 1 DAY), (INTERVAL 2 MONTHS) AS t(x)

-- query: duplicate_names_reference
SELECT x FROM VALUES (1, 2) AS t(x, x)

-- query: in_subquery
SELECT order_id FROM orders WHERE quantity IN (VALUES (1), (2))

-- query: sample
SELECT * FROM VALUES (1), (2) AS t(x) TABLESAMPLE (1 ROWS)

-- query: cast_bad
SELECT * FROM VALUES (CAST('a' AS INT)) AS t(x)

-- query: division_by_zero
SELECT * FROM VALUES (1 / 0) AS t(x)

-- query: correlated_inside
SELECT name, (SELECT max(x) FROM VALUES (s.employee_id) AS t(x)) AS m FROM staff s

-- query: default_keyword
SELECT * FROM VALUES (DEFAULT) AS t(x)

-- query: trailing_comma
SELECT * FROM VALUES (1), AS t(x)

-- query: string_collate
SELECT * FROM VALUES ('a' COLLATE UTF8_LCASE), ('b') AS t(x)

-- query: struct_beside
SELECT * FROM VALUES (struct(1 AS a), 1), (struct(2 AS b), 2) AS t(x, y)

-- query: array_struct
SELECT * FROM VALUES (array(struct(1 AS a))), (array(struct(2 AS b))) AS t(x)

-- query: lambda_nested
SELECT * FROM VALUES (size(filter(array(1), x -> x > 0))) AS t(x)

-- query: monotonic
SELECT * FROM VALUES (monotonically_increasing_id()) AS t(x)

-- query: exists_value
SELECT * FROM VALUES (EXISTS (SELECT 1)) AS t(x)

-- query: bare_name
SELECT * FROM VALUES (foo) AS t(x)

-- query: statement_order_bad
VALUES (1), (2) ORDER BY x

-- query: statement_where
VALUES (1), (2) WHERE col1 = 1

-- query: timestamp_text
SELECT * FROM VALUES (TIMESTAMP'2020-01-01 00:00:00'), ('2020-01-02') AS t(x)

-- query: long_text
SELECT * FROM VALUES (1L), ('a') AS t(x)

-- query: map_key_text
SELECT * FROM VALUES (map(1, 1)), (map('a', 2)) AS t(x)

-- query: variant_int
SELECT * FROM VALUES (parse_json('1')), (1) AS t(x)

-- query: overflow_int
SELECT * FROM VALUES (CAST(3000000000 AS INT)) AS t(x)

-- query: element_missing
SELECT * FROM VALUES (array(1)[5]) AS t(x)

-- query: to_date_bad
SELECT * FROM VALUES (to_date('x')) AS t(x)

-- query: alias_typed
SELECT * FROM VALUES (1) AS t(x INT)
