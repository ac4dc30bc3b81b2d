-- query: plain_columns
SELECT order_id, amount, status FROM orders

-- query: aliases_with_and_without_as
SELECT order_id AS id, amount total, o.status `the status` FROM orders AS o

-- query: case_insensitive_names
SELECT ORDER_ID, Orders.Amount, oRdErS.STATUS AS Status FROM ORDERS

-- query: quoted_names
SELECT `Id`, `full name`, `SELECT`, `a.b`, `größe`, `Upper` FROM legacy

-- query: quoted_table_alias
SELECT `my orders`.order_id, `My Orders`.amount FROM orders AS `my orders`

-- query: quoted_struct_fields
SELECT nested.`odd name`, nested.`x.y` AS xy FROM legacy

-- query: backtick_inside_quotes
SELECT order_id AS `odd``name` FROM orders

-- query: star
SELECT * FROM orders

-- query: star_and_more
SELECT *, amount * quantity AS value FROM orders

-- query: qualified_star
SELECT o.*, c.name FROM orders o JOIN customers c ON o.customer_id = c.customer_id

-- query: two_stars
SELECT l.*, p.* FROM order_lines l JOIN products p ON l.product_id = p.product_id

-- query: star_except_one
SELECT * EXCEPT (note) FROM orders

-- query: star_except_several
SELECT * EXCEPT (note, weight, is_gift, is_paid) FROM orders

-- query: qualified_star_except
SELECT o.* EXCEPT (customer_id), c.name FROM orders o JOIN customers c USING (customer_id)

-- query: star_except_nested_field
SELECT * EXCEPT (address.geo, loyalty.since) FROM customers

-- query: star_except_deeply_nested_field
SELECT * EXCEPT (address.geo.lat, tags) FROM customers

-- query: struct_star
SELECT address.* FROM customers

-- query: nested_struct_star
SELECT customer_id, address.geo.*, loyalty.* FROM customers

-- query: struct_star_of_nullable_struct
SELECT loyalty.*, loyalty.tier AS tier_again FROM customers

-- query: struct_star_through_table
SELECT c.address.* FROM customers c

-- query: struct_star_except
SELECT address.* EXCEPT (street) FROM customers

-- query: struct_field_access
SELECT address.city, address.geo.lat AS lat, loyalty.tier, loyalty.points + 1 AS next_points FROM customers

-- query: struct_field_of_table_named_like_column
SELECT address.city AS city FROM (SELECT address FROM customers) address

-- query: lateral_alias
SELECT amount * quantity AS gross, gross * 2 AS twice FROM orders

-- query: lateral_alias_chain
SELECT amount AS a, a + 1 AS b, b + a AS c, c IS NULL AS d FROM orders

-- query: lateral_alias_loses_to_column
SELECT quantity + 1 AS amount, amount AS real_amount FROM orders

-- query: lateral_alias_in_aggregate
SELECT customer_id, sum(amount) AS total, total / count(*) AS mean FROM orders GROUP BY customer_id

-- query: lateral_alias_struct_field
SELECT named_struct('x', quantity, 'y', status) AS p, p.x AS px, p.y AS py FROM orders

-- query: distinct
SELECT DISTINCT status, is_gift FROM orders

-- query: distinct_expressions
SELECT DISTINCT year(order_date) AS y, coalesce(status, 'none') AS status FROM orders

-- query: all_keyword
SELECT ALL order_id FROM orders

-- query: no_from
SELECT 1 AS one, 'x' AS letter, NULL AS nothing

-- query: where_does_not_narrow_nullability
SELECT status, discount FROM orders WHERE status IS NOT NULL AND discount > 0

-- query: column_named_like_function
SELECT count, `sum` FROM (SELECT quantity AS count, amount AS `sum` FROM orders)

-- query: column_named_like_keyword
SELECT date, timestamp, year, month FROM (SELECT order_date AS date, ordered_at AS timestamp, 1 AS year, 2S AS month FROM orders)

-- query: multi_alias_column_list
SELECT a, b FROM (SELECT order_id, amount FROM orders) AS t(a, b)

-- query: table_alias_column_list
SELECT x, y, z FROM (SELECT 1, 'a', NULL) t(x, y, z)

-- query: comments_everywhere
SELECT /* the key */ order_id, -- then the money
  amount /* in /* nested */ euros */ AS euros
FROM orders -- all of them

-- query: hints
SELECT /*+ BROADCAST(c), COALESCE(4) */ o.order_id, c.name FROM orders o JOIN customers c ON o.customer_id = c.customer_id

-- query: repartition_hint
SELECT /*+ REPARTITION(8, customer_id) */ customer_id, amount FROM orders

-- query: trailing_semicolon
SELECT order_id FROM orders;

-- query: generated_names_of_operators
SELECT order_id + 1, -amount, quantity % 2 = 0, NOT is_gift, status IS NULL, quantity BETWEEN 1 AND 5 FROM orders

-- query: generated_names_of_calls
SELECT upper(status), count(*), sum(amount), max(order_date) FROM orders GROUP BY upper(status)

-- query: generated_names_of_literals
SELECT 1, 'a', 2.5, TRUE, NULL, DATE '2024-01-31', 3L

-- query: generated_names_of_paths
SELECT address.city, sizes[0], attributes['color'], tags FROM customers CROSS JOIN products

-- query: generated_name_of_case
SELECT CASE WHEN is_gift THEN 1 ELSE 0 END FROM orders

-- query: generated_name_of_cast
SELECT CAST(order_id AS STRING), amount::int FROM orders

-- query: duplicate_names_allowed_in_output
SELECT order_id, order_id, amount AS order_id FROM orders

-- query: two_part_struct_or_table
SELECT customers.address.geo.lon AS lon FROM customers

-- query: values_in_select_scope
SELECT o.order_id, v.k FROM orders o CROSS JOIN VALUES (1), (2) AS v(k)

-- query: deeply_nested_derived_tables
SELECT a FROM (SELECT a FROM (SELECT a FROM (SELECT a FROM (SELECT order_id AS a FROM orders) t1) t2) t3) t4

-- query: parenthesised_query
(SELECT order_id FROM orders)

-- query: doubly_parenthesised_query
((SELECT order_id FROM orders LIMIT 5))

-- query: from_first
FROM orders SELECT order_id, amount WHERE amount > 10

-- query: from_only_with_pipe
FROM orders |> WHERE quantity > 2

-- query: table_statement
TABLE orders

-- query: deeply_nested_expression
SELECT ((((((((((quantity + 1) * 2) - 3) + 4) * 5) - 6) + 7) * 8) - 9) + 10) AS x FROM orders

-- query: many_or_branches
SELECT order_id FROM orders WHERE status = 'a' OR status = 'b' OR status = 'c' OR status = 'd' OR (status = 'e' AND quantity > 1)

-- query: identifier_clause
SELECT IDENTIFIER('order_id') AS a, IDENTIFIER('o.amount') AS b FROM IDENTIFIER('orders') AS o

-- query: metadata_free_star_in_struct
SELECT struct(*) AS s FROM calendar

-- query: star_in_coalesce
SELECT coalesce(*) AS first_label FROM (SELECT label, 'none' AS other FROM calendar)

-- query: star_in_array
SELECT array(*) AS both FROM (SELECT q1, q2 FROM quarterly_sales)

-- query: star_in_in_list
SELECT 'x' IN (*) AS found FROM (SELECT label, 'y' AS other FROM calendar)

-- query: star_in_count_all
SELECT count(*) AS n FROM orders o

-- query: star_except_everything
SELECT * EXCEPT (a, b) FROM (SELECT 1 AS a, 2 AS b)

-- query: leading_digit_alias
SELECT order_id AS 1st FROM orders

-- query: keyword_as_a_field
SELECT t.select, l.`Full Name` FROM legacy t CROSS JOIN legacy l

-- query: comments_inside_keywords
SELECT status, count(*) AS n, sum(count(*)) OVER (PARTITION /* all */ BY status) AS s FROM orders GROUP -- by what
  BY status ORDER /* last */ BY status

-- query: quoted_function_names
SELECT `sum`(amount) AS a, `Count`(*) AS b, `upper`('x') AS c FROM orders

-- query: quoted_generator
SELECT `explode`(tags) AS tag FROM customers

-- query: quoted_window_function
SELECT `row_number`() OVER (ORDER BY order_id) AS n, `sum`(amount) OVER () AS s FROM orders
