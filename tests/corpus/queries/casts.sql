-- query: numbers_to_numbers
SELECT CAST(i AS BIGINT) AS a, CAST(l AS INT) AS b, CAST(d AS INT) AS c, CAST(d5 AS DECIMAL(10,2)) AS e, CAST(d20 AS DECIMAL(5,2)) AS g, CAST(i AS DECIMAL(5,0)) AS h, CAST(i AS DECIMAL(20,2)) AS j, CAST(d5 AS INT) AS k, CAST(d AS DECIMAL(10,2)) AS m FROM numbers

-- query: to_string
SELECT CAST(order_id AS STRING) AS a, CAST(amount AS STRING) AS b, CAST(order_date AS STRING) AS c, CAST(is_paid AS STRING) AS d, CAST(ordered_at AS VARCHAR(20)) AS e, CAST(quantity AS CHAR(5)) AS f, CAST(sizes AS STRING) AS g, CAST(address AS STRING) AS h, CAST(attributes AS STRING) AS k, CAST(photo AS STRING) AS m FROM orders CROSS JOIN products CROSS JOIN customers

-- query: from_string
SELECT CAST(name AS INT) AS a, CAST(name AS DOUBLE) AS b, CAST(name AS DATE) AS c, CAST(name AS TIMESTAMP) AS d, CAST(name AS BOOLEAN) AS e, CAST(name AS DECIMAL(10,2)) AS f, CAST(name AS BINARY) AS g, CAST(name AS TIMESTAMP_NTZ) AS h, CAST('1' AS INT) AS j, CAST(name AS STRING) AS k FROM customers

-- query: dates_and_times
SELECT CAST(order_date AS TIMESTAMP) AS a, CAST(ordered_at AS DATE) AS b, CAST(ordered_at AS BIGINT) AS c, CAST(ordered_at AS DOUBLE) AS d, CAST(quantity AS TIMESTAMP) AS e, CAST(at AS TIMESTAMP) AS f, CAST(ordered_at AS TIMESTAMP_NTZ) AS g, CAST(at AS DATE) AS h, CAST(order_date AS TIMESTAMP_NTZ) AS k, CAST(ordered_at AS INT) AS m, CAST(ordered_at AS DECIMAL(20,6)) AS n FROM orders CROSS JOIN events

-- query: booleans
SELECT CAST(is_gift AS INT) AS a, CAST(quantity AS BOOLEAN) AS b, CAST(is_gift AS DECIMAL(1,0)) AS c, CAST(is_gift AS STRING) AS d, CAST(amount AS BOOLEAN) AS e, CAST(is_gift AS DECIMAL(1,1)) AS f FROM orders

-- query: double_colon
SELECT order_id::string AS a, '1'::int AS b, amount::decimal(10,0) AS c, '2024-01-01'::date AS d, quantity::bigint + 1 AS e, -1::tinyint AS f, NULL::int AS g FROM orders

-- query: try_cast
SELECT TRY_CAST(name AS INT) AS a, TRY_CAST(customer_id AS INT) AS b, TRY_CAST(credit_limit AS STRING) AS c, TRY_CAST('x' AS DATE) AS d, TRY_CAST(customer_id AS DECIMAL(3,0)) AS e, TRY_CAST(birth_date AS TIMESTAMP) AS f, TRY_CAST(tags AS ARRAY<INT>) AS g FROM customers

-- query: cast_functions
SELECT int(name) AS a, string(customer_id) AS b, double(credit_limit) AS c, date(name) AS d, boolean(name) AS e, bigint(credit_limit) AS f, timestamp(birth_date) AS g, decimal(name) AS h, float(1) AS k, tinyint(1) AS m, smallint(customer_id) AS n, binary(name) AS o FROM customers

-- query: arrays
SELECT CAST(sizes AS ARRAY<BIGINT>) AS a, CAST(array(1, 2) AS ARRAY<STRING>) AS b, CAST(array('1') AS ARRAY<INT>) AS c, CAST(tags AS ARRAY<INT>) AS d, CAST(array() AS ARRAY<DATE>) AS e, CAST(NULL AS ARRAY<INT>) AS f FROM products CROSS JOIN customers

-- query: maps_and_structs
SELECT CAST(map('a', 1) AS MAP<STRING, BIGINT>) AS a, CAST(attributes AS MAP<STRING, INT>) AS b, CAST(struct(1, 'x') AS STRUCT<a: BIGINT, b: STRING>) AS c, CAST(loyalty AS STRUCT<x: STRING, y: BIGINT, z: STRING>) AS d, CAST(NULL AS MAP<STRING, INT>) AS e, CAST(struct(1) AS STRUCT<a: STRING>) AS f FROM products CROSS JOIN customers

-- query: intervals
SELECT CAST('1' AS INTERVAL DAY) AS a, CAST('1-2' AS INTERVAL YEAR TO MONTH) AS b, CAST(lead_time AS STRING) AS c, CAST(lead_time AS INTERVAL DAY) AS d, CAST(INTERVAL '3' MONTH AS INT) AS e, CAST(5 AS INTERVAL MONTH) AS f, CAST(lead_time AS INTERVAL HOUR TO SECOND) AS g, CAST(INTERVAL '1' DAY AS DECIMAL(10,2)) AS h, CAST(warranty AS INTERVAL YEAR) AS k FROM products

-- query: variant
SELECT CAST(body AS INT) AS a, CAST(body AS STRING) AS b, CAST(1 AS VARIANT) AS c, CAST(body AS ARRAY<INT>) AS d, CAST(body AS STRUCT<a: INT>) AS e, CAST(event_id AS VARIANT) AS f, body::double AS g, TRY_CAST(body AS DATE) AS h FROM events

-- query: null_to_anything
SELECT CAST(NULL AS INT) AS a, CAST(NULL AS STRING) AS b, CAST(NULL AS DECIMAL(10,2)) AS c, CAST(NULL AS STRUCT<a: INT>) AS d, CAST(NULL AS INTERVAL DAY) AS e, CAST(NULL AS VARIANT) AS f, CAST(NULL AS VOID) AS g

-- query: type_synonyms
SELECT CAST(1 AS LONG) AS a, CAST(1 AS INTEGER) AS b, CAST(1 AS SHORT) AS c, CAST(1 AS BYTE) AS d, CAST(1 AS REAL) AS e, CAST(1 AS NUMERIC(5,1)) AS f, CAST(1 AS DEC) AS g, CAST(1 AS DECIMAL) AS h, CAST(1 AS DECIMAL(7)) AS k, CAST('a' AS VARCHAR(3)) AS m, CAST('2024-01-01' AS TIMESTAMP_LTZ) AS n

-- query: of_literals
SELECT CAST('2024-01-01' AS DATE) AS a, CAST(1.5 AS INT) AS b, CAST(1 AS DECIMAL(3,1)) AS c, CAST(300 AS TINYINT) IS NULL AS d, CAST('abc' AS INT) AS e, CAST(12345 AS DECIMAL(3,0)) AS f, CAST(DATE '2024-01-01' AS STRING) AS g

-- query: collations
SELECT CAST('a' AS STRING COLLATE UTF8_LCASE) AS a, CAST(name AS STRING COLLATE UNICODE) AS b FROM customers

-- query: nested_in_expressions
SELECT CAST(quantity AS DOUBLE) / CAST(2 AS DOUBLE) AS a, CAST(amount AS INT) + 1 AS b, round(CAST(tax AS DECIMAL(10,4)), 2) AS c, sum(CAST(status AS INT)) OVER () AS d FROM orders

-- query: decimal_widening_nullability
SELECT CAST(d5 AS DECIMAL(6,2)) AS a, CAST(d5 AS DECIMAL(5,3)) AS b, CAST(l AS DECIMAL(20,0)) AS c, CAST(l AS DECIMAL(18,0)) AS e, CAST(s AS DECIMAL(5,0)) AS g, CAST(d380 AS DECIMAL(38,0)) AS h, CAST(d380 AS BIGINT) AS k FROM numbers

-- query: of_typed_literals
SELECT CAST(DATE '2024-02-29' AS TIMESTAMP) AS a, CAST(TIMESTAMP '2024-02-29 10:00:00' AS DATE) AS b, CAST(TIMESTAMP_NTZ '2024-02-29 10:00:00' AS STRING) AS c, CAST(INTERVAL '1' DAY AS STRING) AS d, CAST(X'01' AS STRING) AS e, DATE '2024-02-29'::timestamp AS f, TRY_CAST(DATE '2024-02-29' AS STRING) AS g, CAST(1.5D AS DECIMAL(5,2)) AS h
