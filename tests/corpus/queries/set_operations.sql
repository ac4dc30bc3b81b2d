-- query: union_all
SELECT order_id, amount FROM orders UNION ALL SELECT order_id, unit_price FROM order_lines

-- query: union_distinct
SELECT status FROM orders UNION SELECT category FROM products

-- query: union_distinct_keyword
SELECT customer_id FROM orders UNION DISTINCT SELECT customer_id FROM customers

-- query: intersect
SELECT customer_id FROM orders INTERSECT SELECT referrer_id FROM customers

-- query: intersect_all
SELECT referrer_id FROM customers INTERSECT ALL SELECT customer_id FROM orders

-- query: except
SELECT customer_id FROM customers EXCEPT SELECT customer_id FROM orders

-- query: except_all
SELECT referrer_id FROM customers EXCEPT ALL SELECT customer_id FROM orders

-- query: minus
SELECT quantity FROM orders MINUS SELECT product_id FROM order_lines

-- query: names_of_first
SELECT order_id AS id, status AS word FROM orders UNION ALL SELECT product_id, sku FROM products

-- query: integer_widening
SELECT b FROM numbers UNION ALL SELECT s FROM numbers UNION ALL SELECT l FROM numbers

-- query: decimal_widening
SELECT d5 FROM numbers UNION ALL SELECT d20 FROM numbers

-- query: decimal_and_integers
SELECT i, d5, l, f FROM numbers UNION ALL SELECT d5, l, d20, d10 FROM numbers

-- query: null_column
SELECT order_id, NULL AS x, NULL AS y FROM orders UNION ALL SELECT order_id, quantity, status FROM orders

-- query: string_and_number
SELECT status FROM orders UNION ALL SELECT '1' UNION ALL SELECT note FROM orders

-- query: number_and_string_literal
SELECT quantity AS x FROM orders UNION ALL SELECT '5'

-- query: dates_and_timestamps
SELECT order_date AS at FROM orders UNION ALL SELECT ordered_at FROM orders

-- query: timestamp_kinds
SELECT at FROM events UNION ALL SELECT received FROM events

-- query: arrays
SELECT sizes FROM products UNION ALL SELECT array(1, 2)

-- query: arrays_widened
SELECT array(1) AS a UNION ALL SELECT array(2.5) UNION ALL SELECT array(NULL)

-- query: structs
SELECT struct(1 AS x, 'a' AS y) AS s UNION ALL SELECT struct(2L AS x, NULL AS y)

-- query: maps
SELECT attributes FROM products UNION ALL SELECT map('a', 'b')

-- query: structs_with_nullable_fields
SELECT address FROM customers UNION ALL SELECT named_struct('street', 's', 'city', 'c', 'geo', named_struct('lat', 1D, 'lon', 2D))

-- query: intersect_nullability
SELECT ni FROM numbers INTERSECT SELECT i FROM numbers

-- query: intersect_nullability_other_way
SELECT i FROM numbers INTERSECT SELECT ni FROM numbers

-- query: except_nullability
SELECT i FROM numbers EXCEPT SELECT ni FROM numbers

-- query: precedence_of_intersect
SELECT ni AS x FROM numbers UNION SELECT i FROM numbers INTERSECT SELECT i FROM numbers

-- query: parenthesised
(SELECT i FROM numbers UNION ALL SELECT ni FROM numbers) EXCEPT SELECT i FROM numbers

-- query: nested_right
SELECT i FROM numbers UNION ALL (SELECT s FROM numbers UNION SELECT nl FROM numbers)

-- query: order_and_limit
SELECT order_id AS id FROM orders UNION ALL SELECT product_id FROM products ORDER BY id LIMIT 5

-- query: in_derived_table
SELECT kind, count(*) AS n FROM (SELECT 'o' AS kind, order_id FROM orders UNION ALL SELECT 'l', order_id FROM order_lines) GROUP BY kind

-- query: union_of_values
VALUES (1, 'a') UNION ALL VALUES (2L, NULL)

-- query: union_of_star
SELECT * FROM calendar UNION ALL SELECT * FROM calendar WHERE is_holiday

-- query: union_of_ctes
WITH a AS (SELECT order_id, status FROM orders), b AS (SELECT order_id, 'line' AS status FROM order_lines) SELECT * FROM a UNION ALL SELECT * FROM b

-- query: union_of_aggregates
SELECT 'sum' AS what, sum(amount) AS v FROM orders UNION ALL SELECT 'avg', avg(amount) FROM orders UNION ALL SELECT 'n', count(*) FROM orders

-- query: union_three_nullabilities
SELECT i FROM numbers UNION ALL SELECT i + 1 FROM numbers UNION ALL SELECT ni FROM numbers

-- query: union_boolean_and_null
SELECT is_gift AS f FROM orders UNION ALL SELECT NULL

-- query: union_intervals
SELECT lead_time AS d FROM products UNION ALL SELECT INTERVAL '1' DAY UNION ALL SELECT session_length FROM events

-- query: intersect_coerced
SELECT quantity FROM orders INTERSECT SELECT order_id FROM orders

-- query: except_coerced
SELECT d5 FROM numbers EXCEPT SELECT d20 FROM numbers

-- query: union_nested_arrays
SELECT matrix FROM events UNION ALL SELECT array(array(1L))

-- query: table_union
TABLE calendar UNION ALL TABLE calendar

-- query: union_float_and_decimal
SELECT weight AS w FROM orders UNION ALL SELECT discount FROM orders UNION ALL SELECT tax FROM orders

-- query: intersect_of_arrays_with_and_without_nulls
SELECT array(1, 2) AS a, split(name, ',') AS b FROM staff INTERSECT SELECT array(1, NULL), tags FROM customers

-- query: except_of_arrays_with_and_without_nulls
SELECT array('a') AS a FROM staff EXCEPT SELECT tags FROM customers

-- query: intersect_of_structs
SELECT struct(1 AS a) AS s INTERSECT SELECT struct(CAST(NULL AS INT) AS a)

-- query: union_of_nested_nullability
SELECT struct(array(1) AS a, map('k', 1) AS m) AS s UNION ALL SELECT struct(array(NULL) AS a, map('k', NULL) AS m)
