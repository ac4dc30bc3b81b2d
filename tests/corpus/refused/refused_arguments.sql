-- query: named_mask_repeated
SELECT mask('a', str => 'b') AS m

-- query: named_mask_twice
SELECT mask('a', upperChar => 'A', upperChar => 'B') AS m

-- query: named_mask_unknown
SELECT mask('a', colour => 'A') AS m

-- query: named_mask_missing
SELECT mask(upperChar => 'A') AS m

-- query: named_mask_positional_after
SELECT mask(upperChar => 'A', 'b') AS m

-- query: named_mask_too_many
SELECT mask('a', 'b', 'c', 'd', 'e', 'f') AS m

-- query: named_mask_column
SELECT mask(note, upperChar => status) AS m FROM orders

-- query: named_unsupported
SELECT upper(str => 'a') AS u

-- query: named_unsupported_coalesce
SELECT coalesce(x => note) AS u FROM orders

-- query: named_cms_missing
SELECT count_min_sketch(quantity, epsilon => 0.5d) AS c FROM orders

-- query: named_explode_wrong
SELECT explode(array => tags) AS t FROM customers

-- query: named_explode_two
SELECT explode(collection => tags, collection => tags) AS t FROM customers

-- query: named_inline_wrong
SELECT inline(collection => items) FROM events

-- query: named_stack
SELECT stack(n => 2, 1, 2) FROM customers

-- query: named_explode_lateral_view
SELECT t FROM customers LATERAL VIEW explode(collection => tags) x AS t

-- query: named_range
SELECT id FROM range(start => 1, end => 3)

-- query: named_range_none
SELECT id FROM range()

-- query: named_range_null
SELECT id FROM range(NULL)

-- query: named_user_alias
SELECT substring(str => 'abc', pos => 1) AS s

-- query: named_make_interval
SELECT make_interval(years => 1) AS s

-- query: named_subquery_argument
SELECT mask('a', upperChar => (SELECT 'x')) AS m

-- query: named_table_argument
SELECT * FROM explode(TABLE(customers))

-- query: generator_in_where
SELECT name FROM customers WHERE explode(tags) = 'x'

-- query: generator_in_having
SELECT count(*) AS n FROM customers HAVING explode(array(1)) = 1

-- query: generator_in_order_by
SELECT name FROM customers ORDER BY explode(tags)

-- query: generator_in_limit
SELECT name FROM customers LIMIT explode(array(1))

-- query: generator_in_window
SELECT sum(explode(sizes)) OVER () AS s FROM products

-- query: generator_of_window
SELECT explode(collect_list(name) OVER (PARTITION BY department)) AS n FROM staff

-- query: generator_nested
SELECT explode(explode(matrix)) AS n FROM events

-- query: generator_in_function
SELECT upper(explode(tags)) AS n FROM customers

-- query: generator_alias_list_short
SELECT posexplode(tags) AS (p) FROM customers

-- query: generator_alias_single_of_two
SELECT posexplode(tags) AS p FROM customers

-- query: generator_of_text
SELECT explode(name) AS x FROM customers

-- query: generator_of_null
SELECT explode(NULL) AS x

-- query: generator_two_arguments
SELECT explode(sizes, sizes) AS x FROM products

-- query: generator_inline_of_array
SELECT inline(sizes) FROM products

-- query: generator_stack_types_bad
SELECT stack(2, 1, true) AS (n)

-- query: generator_stack_column
SELECT stack(quantity, 1) FROM orders

-- query: generator_json_tuple_numbers
SELECT json_tuple(payload, 1) FROM events

-- query: view_pos_short
SELECT name, p FROM customers LATERAL VIEW posexplode(tags) x AS p

-- query: view_chain_backwards
SELECT r, c FROM events LATERAL VIEW explode(r) y AS c LATERAL VIEW explode(matrix) x AS r

-- query: view_unknown
SELECT name FROM customers LATERAL VIEW nothing(tags) x AS t

-- query: view_of_aggregate
SELECT name FROM customers LATERAL VIEW explode(collect_list(name)) x AS t

-- query: view_qualified_wrong
SELECT x.name FROM customers LATERAL VIEW explode(tags) x AS t

-- query: view_same_name_twice
SELECT t FROM customers LATERAL VIEW explode(tags) x AS t LATERAL VIEW explode(tags) y AS t

-- query: view_before_join
SELECT c.name, t FROM customers c LATERAL VIEW explode(c.tags) x AS t JOIN orders o ON true

-- query: view_after_where
SELECT name FROM customers WHERE name = 'x' LATERAL VIEW explode(tags) x AS t

-- query: table_function_alias_count
SELECT * FROM explode(array(1, 2)) AS t(x, y)

-- query: table_function_scalar
SELECT * FROM upper('a')

-- query: table_function_keywords
SELECT keyword, isReserved FROM sql_keywords()

-- query: global_temp_backticks
SELECT * FROM `global_temp`.`v`

-- query: mask_number
SELECT mask(5) AS m

-- query: mask_long_char
SELECT mask('a', upperChar => 'XX') AS m

-- query: mask_case_twice
SELECT mask('a', upperChar => 'A', UPPERCHAR => 'B') AS m

-- query: mask_arrow_value_expression
SELECT mask('a', lowerChar => upper('b') || 'c') AS m

-- query: explode_named_scalar
SELECT explode(collection => 1) AS x

-- query: explode_named_then_positional
SELECT explode(collection => tags, 1) AS x FROM customers

-- query: variant_explode_select
SELECT variant_explode(body) FROM events

-- query: named_on_first
SELECT first(quantity, ignoreNulls => true) AS l FROM orders

-- query: named_on_concat_ws
SELECT concat_ws(sep => '-', 'a') AS l

-- query: named_on_unknown
SELECT nothing(a => 1) AS l

-- query: named_on_named_struct
SELECT named_struct('a', b => 1) AS l

-- query: named_on_count
SELECT count(x => 1) AS l FROM orders

-- query: range_end_first
SELECT id FROM range(end => 5)

-- query: range_alias_two
SELECT t.k FROM range(5) AS t(k, l)

-- query: range_date
SELECT id FROM range(current_date())

-- query: range_in_select
SELECT range(5)

-- query: where_generator_nested
SELECT name FROM staff WHERE size(array(explode(array(1)))) > 0

-- query: offset_generator
SELECT name FROM customers LIMIT 1 OFFSET explode(array(1))

-- query: group_alias_generator
SELECT explode(tags) AS t, count(*) AS n FROM customers GROUP BY t

-- query: generator_case_branch
SELECT if(true, explode(sizes), 1) AS t FROM products

-- query: generator_cast
SELECT CAST(explode(sizes) AS STRING) AS t FROM products

-- query: generator_stack_decimal
SELECT stack(2, 1.5, 2.25) AS x

-- query: view_window_argument
SELECT t FROM customers LATERAL VIEW explode(collect_list(name) OVER ()) x AS t

-- query: view_generator_nested
SELECT t FROM events LATERAL VIEW explode(explode(matrix)) x AS t

-- query: view_group_by_before
SELECT department FROM staff GROUP BY department LATERAL VIEW explode(array(1)) x AS t

-- query: table_function_lateral_missing
SELECT t.col FROM customers c JOIN explode(c.tags) t

-- query: table_function_sample
SELECT * FROM range(10) TABLESAMPLE (10 PERCENT)

-- query: table_function_aggregate_argument
SELECT * FROM explode(collect_list(1))

-- query: table_function_no_parens
SELECT * FROM range
