-- query: generator_in_expression
SELECT explode(tags) || '!' AS loud FROM customers

-- query: generator_in_group_by
SELECT count(*) FROM customers GROUP BY explode(tags)

-- query: generator_in_order_by
SELECT name FROM customers ORDER BY explode(tags)

-- query: generator_nested_in_function
SELECT upper(explode(tags)) FROM customers

-- query: generator_alias_count
SELECT explode(attributes) AS (k, v, w) FROM products

-- query: lateral_view_alias_count
SELECT * FROM customers LATERAL VIEW explode(tags) t AS a, b

-- query: lateral_view_scalar_function
SELECT * FROM customers LATERAL VIEW upper(name) t AS a

-- query: lateral_view_unknown_function
SELECT * FROM customers LATERAL VIEW explod(tags) t AS a

-- query: inline_of_integers
SELECT inline(sizes) FROM products

-- query: table_function_argument_type
SELECT * FROM explode(1)

-- query: table_function_without_arguments
SELECT * FROM range()

-- query: values_incompatible
SELECT * FROM VALUES (1, 'a'), (array(1), 'b') AS t(a, b)

-- query: values_with_column
SELECT * FROM VALUES (order_id) AS t(a)

-- query: tablesample_out_of_range
SELECT order_id FROM orders TABLESAMPLE (200 PERCENT)

-- query: scalar_function_as_table
SELECT * FROM upper('x')

-- query: star_alias_of_multi_column_generator
SELECT stack(2, 1, 'a', 2, 'b') AS x
