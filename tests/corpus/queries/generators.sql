-- query: explode_array
SELECT customer_id, explode(tags) AS tag FROM customers

-- query: explode_not_null_array
SELECT explode(array(1, 2)) AS a

-- query: explode_map
SELECT explode(attributes) FROM products

-- query: explode_map_aliases
SELECT explode(attributes) AS (k, v) FROM products

-- query: explode_outer
SELECT explode_outer(sizes) AS s, product_id FROM products

-- query: posexplode
SELECT posexplode(tags) FROM customers

-- query: posexplode_aliases
SELECT posexplode(array('a', 'b')) AS (p, x)

-- query: posexplode_outer_map
SELECT posexplode_outer(attributes) AS (p, k, v) FROM products

-- query: inline
SELECT event_id, inline(items) FROM events

-- query: inline_outer
SELECT inline_outer(items) FROM events

-- query: inline_aliases
SELECT inline(array(struct(1, 'a'), struct(2, NULL))) AS (n, s)

-- query: stack
SELECT stack(2, 1, 'a', 2, 'b') AS (n, s)

-- query: stack_uneven
SELECT stack(2, 1, 'a', 2)

-- query: json_tuple
SELECT json_tuple(payload, 'a', 'b') AS (a, b) FROM events

-- query: generator_with_expression
SELECT explode(split(note, ',')) AS word, order_id FROM orders

-- query: generator_of_sequence
SELECT explode(sequence(order_date, due_date, INTERVAL 1 DAY)) AS day FROM orders

-- query: generator_over_aggregate
SELECT explode(collect_list(status)) AS s FROM orders

-- query: lateral_view
SELECT c.customer_id, t.tag FROM customers c LATERAL VIEW explode(c.tags) t AS tag

-- query: lateral_view_without_column_names
SELECT customer_id, col FROM customers LATERAL VIEW explode(tags) t

-- query: lateral_view_without_table_name
SELECT customer_id, tag FROM customers LATERAL VIEW explode(tags) AS tag

-- query: lateral_view_outer
SELECT customer_id, tag FROM customers LATERAL VIEW OUTER explode(tags) t AS tag

-- query: lateral_view_outer_not_null_elements
SELECT i.x FROM orders LATERAL VIEW OUTER explode(array(1, 2)) i AS x

-- query: lateral_view_map
SELECT product_id, k, v FROM products LATERAL VIEW explode(attributes) a AS k, v

-- query: lateral_view_chain
SELECT event_id, r, x FROM events LATERAL VIEW explode(matrix) m AS r LATERAL VIEW explode(r) n AS x

-- query: lateral_view_posexplode
SELECT event_id, pos, item.qty, item.product_id FROM events LATERAL VIEW posexplode(items) p AS pos, item

-- query: lateral_view_inline
SELECT event_id, i.product_id, i.qty FROM events LATERAL VIEW inline(items) i

-- query: lateral_view_inline_outer
SELECT event_id, i.* FROM events LATERAL VIEW OUTER inline(items) i

-- query: lateral_view_json_tuple
SELECT event_id, j.a, j.b FROM events LATERAL VIEW json_tuple(payload, 'a', 'b') j AS a, b

-- query: lateral_view_star
SELECT * FROM (SELECT customer_id, tags FROM customers) LATERAL VIEW explode(tags) t AS tag

-- query: lateral_view_with_where_and_group
SELECT tag, count(*) AS n FROM customers LATERAL VIEW explode(tags) t AS tag WHERE tag <> '' GROUP BY tag

-- query: table_function_range
SELECT id FROM range(10)

-- query: table_function_range_arguments
SELECT id * 2 AS twice FROM range(1, 10, 2, 4) AS r

-- query: table_function_explode
SELECT col FROM explode(array(1, NULL))

-- query: table_function_alias
SELECT t.a, t.b FROM explode(map('x', 1)) AS t(a, b)

-- query: table_function_posexplode
SELECT * FROM posexplode(array('a'))

-- query: table_function_inline
SELECT * FROM inline(array(struct(1 AS a, 'x' AS b)))

-- query: table_function_stack
SELECT * FROM stack(2, 1, 2, 3, 4)

-- query: table_function_keywords
SELECT * FROM sql_keywords()

-- query: table_function_collations
SELECT * FROM collations()

-- query: table_function_json_tuple
SELECT * FROM json_tuple('{"a": 1}', 'a', 'b')

-- query: table_function_lateral_inline
SELECT e.event_id, i.qty FROM events e, LATERAL inline(e.items) i

-- query: variant_explode
SELECT * FROM variant_explode(parse_json('[1, 2]'))

-- query: variant_explode_lateral
SELECT e.event_id, v.pos, v.key, v.value FROM events e, LATERAL variant_explode(e.body) v

-- query: variant_explode_outer
SELECT * FROM events, LATERAL variant_explode_outer(body)

-- query: values
VALUES (1, 'a'), (2, 'b')

-- query: values_alias
SELECT id, name FROM VALUES (1, 'a'), (2, NULL) AS t(id, name)

-- query: values_default_names
SELECT col1, col2 FROM VALUES (1, 'a')

-- query: values_coerced
SELECT * FROM VALUES (1, 2.5, NULL), (2L, 1, 'x'), (3, 10.25, 'y') AS t(a, b, c)

-- query: values_single_column
SELECT x FROM VALUES 1, 2, 3 AS t(x)

-- query: values_complex
SELECT * FROM VALUES (array(1), map('a', 1), struct(1 AS x)), (array(NULL), map('b', NULL), struct(NULL AS x)) AS t(a, m, s)

-- query: values_expressions
SELECT * FROM VALUES (1 + 1, upper('a'), current_date()) AS t(a, b, c)

-- query: parenthesised_values
SELECT * FROM (VALUES (1, TRUE), (2, FALSE)) AS t(n, flag)

-- query: pivot
SELECT * FROM (SELECT customer_id, status, amount FROM orders) PIVOT (sum(amount) FOR status IN ('new', 'paid'))

-- query: pivot_aliases
SELECT * FROM (SELECT customer_id, status, amount FROM orders) PIVOT (sum(amount) AS total FOR status IN ('new' AS n, 'paid' AS p))

-- query: pivot_several_aggregates
SELECT * FROM (SELECT customer_id, status, amount, quantity FROM orders) PIVOT (sum(amount) AS s, count(quantity) AS c FOR status IN ('new' AS n, 'paid' AS p))

-- query: pivot_several_columns
SELECT * FROM (SELECT customer_id, status, is_gift, amount FROM orders) PIVOT (max(amount) FOR (status, is_gift) IN (('new', true) AS a, ('paid', false) AS b))

-- query: pivot_of_numbers
SELECT * FROM (SELECT week, month, is_holiday FROM calendar) PIVOT (count(*) FOR month IN (1, 2, 3))

-- query: pivot_then_filter
SELECT customer_id, `new` FROM (SELECT customer_id, status, amount FROM orders) PIVOT (avg(amount) FOR status IN ('new', 'paid')) WHERE `new` > 1

-- query: pivot_expression
SELECT * FROM (SELECT category, price, stock, discontinued FROM products) PIVOT (round(sum(price * stock), 2) AS v FOR discontinued IN (true AS gone, false AS here))

-- query: unpivot
SELECT * FROM quarterly_sales UNPIVOT (sales FOR quarter IN (q1, q2))

-- query: unpivot_coerced
SELECT * FROM quarterly_sales UNPIVOT (sales FOR quarter IN (q1, q2, q3, q4))

-- query: unpivot_include_nulls
SELECT * FROM quarterly_sales UNPIVOT INCLUDE NULLS (sales FOR quarter IN (q1 AS first, q2 AS second))

-- query: unpivot_exclude_nulls
SELECT region, product, q, v FROM quarterly_sales UNPIVOT EXCLUDE NULLS (v FOR q IN (q3, q4))

-- query: unpivot_several_values
SELECT * FROM quarterly_sales UNPIVOT ((a, b) FOR half IN ((q1, q2) AS h1, (q2, q1) AS h2))

-- query: unpivot_alias
SELECT u.region, u.v FROM quarterly_sales UNPIVOT (v FOR k IN (q1, q2)) AS u

-- query: two_generators
SELECT explode(tags), posexplode(tags) FROM customers

-- query: generator_with_window
SELECT explode(tags), row_number() OVER (ORDER BY name) FROM customers
