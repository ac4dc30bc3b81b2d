-- query: named_mask
SELECT mask('AbCD123-@$#', lowerChar => 'q', upperChar => 'Q', otherChar => 'o', digitChar => 'd') AS m

-- query: named_mask_null
SELECT mask('a', upperChar => NULL) AS m

-- query: named_cms_order
SELECT count_min_sketch(column => quantity, seed => 1, epsilon => 0.5d, confidence => 0.5d) AS c FROM orders

-- query: named_explode
SELECT explode(collection => tags) AS t FROM customers

-- query: named_explode_outer
SELECT explode_outer(collection => tags) AS t FROM customers

-- query: named_explode_map
SELECT explode(collection => attributes) FROM products

-- query: named_posexplode
SELECT posexplode(collection => tags) FROM customers

-- query: named_inline
SELECT inline(input => items) FROM events

-- query: named_explode_table
SELECT * FROM explode(collection => array(1, 2))

-- query: named_lateral_function
SELECT t.tag FROM customers c, LATERAL explode(collection => c.tags) AS t(tag)

-- query: named_variant_explode_positional
SELECT v.pos, v.key, v.value FROM events, LATERAL variant_explode(body) v

-- query: named_range_double
SELECT id FROM range(1.5)

-- query: named_nested
SELECT mask(mask('a', lowerChar => 'b'), lowerChar => 'c') AS m

-- query: generator_in_partition
SELECT sum(1) OVER (PARTITION BY explode(sizes)) AS s FROM products

-- query: generator_of_aggregate_grouped
SELECT department, explode(collect_list(name)) AS n FROM staff GROUP BY department

-- query: generator_with_distinct
SELECT DISTINCT explode(sizes) AS a FROM products

-- query: generator_in_union
SELECT explode(tags) AS t FROM customers UNION ALL SELECT name FROM customers

-- query: generator_alias_map
SELECT explode(attributes) AS (k, v) FROM products

-- query: generator_of_empty_array
SELECT explode(array()) AS x

-- query: generator_inline_outer
SELECT inline_outer(items) FROM events

-- query: generator_stack_alias
SELECT stack(2, 1, 'a', 2, 'b') AS (n, t)

-- query: generator_stack_expression
SELECT stack(1 + 1, 1, 2)

-- query: generator_json_tuple
SELECT json_tuple(payload, 'a', 'b') FROM events

-- query: view_no_column
SELECT name, col FROM customers LATERAL VIEW explode(tags) x

-- query: view_outer_not_null
SELECT sku, t FROM products LATERAL VIEW OUTER explode(array(1, 2)) x AS t

-- query: view_chain
SELECT r, c FROM events LATERAL VIEW explode(matrix) x AS r LATERAL VIEW explode(r) y AS c

-- query: view_same_alias_twice
SELECT x.t FROM customers LATERAL VIEW explode(tags) x AS t LATERAL VIEW explode(tags) x AS u

-- query: view_after_join
SELECT c.name, t FROM customers c JOIN orders o ON true LATERAL VIEW explode(c.tags) x AS t

-- query: view_group
SELECT t, count(*) AS n FROM customers LATERAL VIEW explode(tags) x AS t GROUP BY t

-- query: view_inline_outer
SELECT qty, product_id FROM events LATERAL VIEW OUTER inline(items) x

-- query: view_without_from
SELECT t LATERAL VIEW explode(array(1)) x AS t

-- query: view_json_tuple
SELECT a FROM events LATERAL VIEW json_tuple(payload, 'a') x AS a

-- query: table_function_default
SELECT col FROM explode(array(1, 2))

-- query: table_function_stack
SELECT col0, col1 FROM stack(2, 1, 'a', 2, 'b')

-- query: table_function_join
SELECT r.id, s.name FROM range(3) r JOIN staff s ON s.employee_id = r.id

-- query: mask_all_positional
SELECT mask('a', 'X', 'x', 'n', 'o') AS m

-- query: mask_str_null
SELECT mask(str => NULL) AS m

-- query: mask_in_having
SELECT note FROM orders GROUP BY note HAVING mask(note, digitChar => '0') = 'x'

-- query: cms_named_distinct
SELECT count_min_sketch(DISTINCT quantity, epsilon => 0.5d, confidence => 0.5d, seed => 1) AS c FROM orders

-- query: cms_positional
SELECT count_min_sketch(quantity, 0.5d, 0.5d, 1) AS c FROM orders

-- query: inline_outer_named
SELECT inline_outer(input => items) FROM events

-- query: variant_explode_table
SELECT pos, key, value FROM variant_explode(parse_json('[1]'))

-- query: named_on_struct
SELECT struct(a => 1) AS l

-- query: named_on_cast
SELECT int(x => '1') AS l

-- query: range_negative
SELECT id FROM range(-5)

-- query: range_upper
SELECT ID FROM RANGE(5)

-- query: generator_paren
SELECT (explode(sizes)) AS t FROM products

-- query: generator_alias_lateral
SELECT explode(sizes) AS t, t + 1 AS u FROM products

-- query: generator_of_group_key
SELECT explode(sizes) AS t, count(*) AS n FROM products GROUP BY sizes

-- query: generator_stack_dates
SELECT stack(2, order_date, due_date) AS d FROM orders

-- query: generator_in_cte
WITH t AS (SELECT explode(array(1, 2)) AS e) SELECT e FROM t

-- query: view_no_from_star
SELECT * LATERAL VIEW explode(array(1)) x AS a

-- query: view_on_values
SELECT t FROM VALUES (array(1)) AS v(a) LATERAL VIEW explode(a) x AS t

-- query: view_keyword_alias
SELECT t.value FROM customers LATERAL VIEW explode(tags) t AS value

-- query: table_function_where
SELECT id FROM range(10) WHERE id > 3
