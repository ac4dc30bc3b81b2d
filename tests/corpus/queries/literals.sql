-- query: integers
SELECT 1 AS a, 2147483647 AS b, 2147483648 AS c, 1L AS d, 2S AS e, 3Y AS f, -5 AS g, +7 AS h

-- query: beyond_bigint
SELECT 9223372036854775807 AS a, 9223372036854775808 AS b, 99999999999999999999 AS c

-- query: decimals
SELECT 1.0 AS a, 0.1 AS b, 10.50 AS c, .5 AS d, 5. AS e, 0.001 AS f, 000.10 AS g

-- query: decimal_suffix
SELECT 1BD AS a, 1.50BD AS b, 0.00BD AS c, 123.456BD AS d, 1e2BD AS e

-- query: floats
SELECT 1.0F AS a, 1.5D AS b, 1e3 AS c, 1E-3 AS d, 1.5e10 AS e, 2F AS f, 3D AS g

-- query: strings
SELECT 'a' AS a, "b" AS b, '' AS c, 'it''s' AS d, 'tab\t' AS e, r'raw\n' AS f, 'one' 'two' AS g

-- query: booleans_and_null
SELECT TRUE AS a, false AS b, NULL AS c, NOT NULL AS d

-- query: binary
SELECT X'1F' AS a, x'' AS b, X'0aFF' AS c

-- query: dates_and_timestamps
SELECT DATE '2024-02-29' AS a, TIMESTAMP '2024-02-29 12:00:00' AS b, TIMESTAMP_NTZ '2024-02-29 12:00:00' AS c, TIMESTAMP_LTZ '2024-02-29' AS d, date'2024-01' AS e

-- query: timestamp_with_zone
SELECT TIMESTAMP '2024-02-29 12:00:00 UTC' AS a, TIMESTAMP '2024-02-29T12:00:00+02:00' AS b

-- query: year_month_intervals
SELECT INTERVAL '1' YEAR AS a, INTERVAL '1-2' YEAR TO MONTH AS b, INTERVAL '3' MONTH AS c, INTERVAL 2 YEARS AS d, INTERVAL -3 MONTHS AS e

-- query: day_time_intervals
SELECT INTERVAL '1' DAY AS a, INTERVAL '1 02:03:04.5' DAY TO SECOND AS b, INTERVAL '5' HOUR AS c, INTERVAL '10:20' HOUR TO MINUTE AS d, INTERVAL '1.5' SECOND AS e, INTERVAL '1 2' DAY TO HOUR AS f, INTERVAL '30:40.5' MINUTE TO SECOND AS g

-- query: multi_unit_intervals
SELECT INTERVAL 1 YEAR 2 MONTHS AS a, INTERVAL 1 DAY 2 HOURS 3 MINUTES AS b, INTERVAL '1 year 2 months' AS c, INTERVAL 1 WEEK AS d, INTERVAL '2 days 3 seconds' AS e

-- query: negative_intervals
SELECT INTERVAL '-1' DAY AS a, -INTERVAL '1' DAY AS b, INTERVAL -'2' MONTH AS c, - INTERVAL 5 HOURS AS d

-- query: interval_of_expression
SELECT make_interval(0, 0, 0, quantity) AS a, make_dt_interval(quantity) AS b FROM orders

-- query: small_intervals
SELECT INTERVAL 5 MILLISECONDS AS a, INTERVAL 7 MICROSECONDS AS b

-- query: typed_binary_and_hex
SELECT hex(X'FF') AS a, length(X'FFFF') AS b

-- query: array_map_struct_constructors
SELECT array(1, 2, 3) AS a, array() AS b, array(1, NULL) AS c, array(1, 2.5) AS d, map('a', 1, 'b', NULL) AS e, map() AS f, struct(1, 'a') AS g, named_struct('x', 1, 'y', NULL) AS h

-- query: mixed_array_literals
SELECT array(1, 2L) AS a, array('a', 1) AS b, array(1, 1.5, 2e0) AS c, array(array(1), array(NULL)) AS d, array(DATE '2024-01-01', TIMESTAMP '2024-01-01 00:00:00') AS e

-- query: row_constructor
SELECT (1, 'a') AS pair, (1, 'a', NULL) AS triple, (quantity, status) AS mixed FROM orders

-- query: struct_with_names
SELECT struct(order_id, amount AS total, quantity + 1) AS s, struct(o.status, 1 AS one) AS t FROM orders o

-- query: map_types
SELECT map(1, 'a', 2L, 'b') AS a, map('x', array(1), 'y', array(NULL)) AS b, map(order_id, status) AS c FROM orders

-- query: map_from_pairs
SELECT map_from_arrays(array('a', 'b'), array(1, NULL)) AS a, map_from_entries(array(struct(1, 'x'))) AS b, str_to_map('a:1,b:2') AS c

-- query: string_escapes_do_not_end_text
SELECT 'a--b' AS a, 'a /* b */' AS b, "it's" AS c, 'say \'hi\'' AS d

-- query: unicode
SELECT 'größe' AS a, '日本' AS b, '\u00e9' AS c, '😀' AS d

-- query: collated_literals
SELECT 'a' COLLATE UTF8_LCASE AS a, 'b' COLLATE UNICODE AS b, collate('c', 'UNICODE_CI') AS c

-- query: current_values
SELECT current_date AS a, current_timestamp AS b, current_user AS c, current_date() AS d, now() AS e, current_timezone() AS f, localtimestamp() AS g, current_catalog() AS h, current_database() AS i, current_schema() AS j, user() AS k, session_user() AS l

-- query: void_in_containers
SELECT array(NULL) AS a, map('k', NULL) AS b, struct(NULL AS n) AS c, array(map()) AS d

-- query: named_argument
SELECT mask('abc', upperChar => 'X') AS a, mask(str => 'Abc1', digitChar => 'd') AS b
