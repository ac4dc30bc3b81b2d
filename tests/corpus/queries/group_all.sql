-- query: all_one_key
SELECT status, count(*) AS n FROM orders GROUP BY ALL

-- query: all_lower_case
SELECT status, count(*) AS n FROM orders GROUP BY all

-- query: all_expression
SELECT upper(status) AS u, quantity + 1 AS q, sum(amount) AS s FROM orders GROUP BY ALL

-- query: all_no_aggregate
SELECT status, is_gift FROM orders GROUP BY ALL

-- query: all_only_aggregates
SELECT count(*) AS n, sum(amount) AS s FROM orders GROUP BY ALL

-- query: all_literal
SELECT 'x' AS k, 1 AS one, count(*) AS n FROM orders GROUP BY ALL

-- query: all_only_literal
SELECT 1 AS one FROM orders GROUP BY ALL

-- query: all_star
SELECT * FROM orders GROUP BY ALL

-- query: all_star_except
SELECT * EXCEPT (amount), sum(amount) AS s FROM orders GROUP BY ALL

-- query: all_table_star
SELECT c.*, count(*) AS n FROM calendar c GROUP BY ALL

-- query: all_mixed_expression
SELECT status, sum(amount) + 1 AS s, max(amount) - min(amount) AS r FROM orders GROUP BY ALL

-- query: all_mixed_with_key
SELECT quantity, quantity + sum(amount) AS s FROM orders GROUP BY ALL

-- query: all_mixed_with_expression_of_key
SELECT upper(status) AS u, concat(upper(status), count(*)) AS s FROM orders GROUP BY ALL

-- query: all_having
SELECT status, count(*) AS n FROM orders GROUP BY ALL HAVING n > 1

-- query: all_having_aggregate
SELECT status FROM orders GROUP BY ALL HAVING max(amount) > 1

-- query: all_order_by
SELECT status, count(*) AS n FROM orders GROUP BY ALL ORDER BY ALL

-- query: all_order_by_aggregate
SELECT status FROM orders GROUP BY ALL ORDER BY sum(amount)

-- query: all_parenthesised
SELECT status, count(*) AS n FROM orders GROUP BY (ALL)

-- query: all_quoted
SELECT status, count(*) AS n FROM orders GROUP BY `ALL`

-- query: all_a_column
SELECT `all`, count(*) AS n FROM (SELECT status AS `all`, amount FROM orders) GROUP BY all

-- query: all_a_column_unquoted
SELECT all, count(*) AS n FROM (SELECT status AS all, amount FROM orders) GROUP BY all

-- query: all_a_column_only_aggregates
SELECT count(*) AS n FROM (SELECT status AS `all`, amount FROM orders) GROUP BY all

-- query: all_a_column_quoted_key
SELECT `all`, count(*) AS n FROM (SELECT status AS `all`, amount FROM orders) GROUP BY `all`

-- query: all_a_column_qualified
SELECT t.all, count(*) AS n FROM (SELECT status AS `all`, amount FROM orders) t GROUP BY t.all

-- query: all_an_alias
SELECT status AS all, count(*) AS n FROM orders GROUP BY all

-- query: all_of_subquery
SELECT status, (SELECT max(week) FROM calendar) AS w, count(*) AS n FROM orders GROUP BY ALL

-- query: all_of_correlated_subquery
SELECT customer_id, (SELECT max(name) FROM customers c WHERE c.customer_id = o.customer_id) AS w, count(*) AS n FROM orders o GROUP BY ALL

-- query: all_of_exists
SELECT EXISTS (SELECT 1 FROM calendar) AS e, count(*) AS n FROM orders GROUP BY ALL

-- query: all_of_generator
SELECT explode(array(1, 2)) AS e, count(*) AS n FROM orders GROUP BY ALL

-- query: all_of_generator_alone
SELECT explode(sizes) AS e FROM products GROUP BY ALL

-- query: all_of_map
SELECT attributes, count(*) AS n FROM products GROUP BY ALL

-- query: all_of_struct_field
SELECT address.city, loyalty.tier, count(*) AS n FROM customers GROUP BY ALL

-- query: all_of_struct_and_field
SELECT address, address.city AS c, count(*) AS n FROM customers GROUP BY ALL

-- query: all_of_array_item
SELECT tags[0] AS t, count(*) AS n FROM customers GROUP BY ALL

-- query: all_of_rand
SELECT rand() AS r, count(*) AS n FROM orders GROUP BY ALL

-- query: all_of_case
SELECT CASE WHEN quantity > 5 THEN 'many' ELSE 'few' END AS c, count(*) AS n FROM orders GROUP BY ALL

-- query: all_of_case_with_aggregate
SELECT CASE WHEN count(*) > 5 THEN 'many' ELSE 'few' END AS c FROM orders GROUP BY ALL

-- query: all_distinct
SELECT DISTINCT status, count(*) AS n FROM orders GROUP BY ALL

-- query: all_in_join
SELECT c.country, o.status, sum(o.amount) AS s FROM orders o JOIN customers c USING (customer_id) GROUP BY ALL

-- query: all_median
SELECT status, median(amount) AS m, mode(quantity) AS o, listagg(note) AS l FROM orders GROUP BY ALL

-- query: all_within_group
SELECT status, percentile_cont(0.5) WITHIN GROUP (ORDER BY amount) AS m FROM orders GROUP BY ALL

-- query: all_filter
SELECT status, count(*) FILTER (WHERE is_gift) AS m FROM orders GROUP BY ALL

-- query: all_empty_table
SELECT 1 AS a, 2 AS b GROUP BY ALL

-- query: all_aggregate_of_literal
SELECT sum(1) AS s GROUP BY ALL

-- query: all_null
SELECT NULL AS k, count(*) AS n FROM orders GROUP BY ALL

-- query: alias_key
SELECT upper(status) AS u, count(*) AS n FROM orders GROUP BY u

-- query: alias_same_as_its_column
SELECT upper(status) AS status, count(*) AS n FROM orders GROUP BY status

-- query: alias_same_as_its_column_by_position
SELECT upper(status) AS status, count(*) AS n FROM orders GROUP BY 1

-- query: alias_in_expression_key_selected
SELECT upper(status) AS u, length(u) AS l, count(*) AS n FROM orders GROUP BY u, length(u)

-- query: alias_of_alias_first_key
SELECT upper(status) AS u, length(u) AS l, count(*) AS n FROM orders GROUP BY u

-- query: alias_of_column_alias_keys
SELECT status AS s, s AS t, count(*) AS n FROM orders GROUP BY s

-- query: alias_of_literal_key
SELECT 'x' AS k, count(*) AS n FROM orders GROUP BY k

-- query: alias_twice_same
SELECT upper(status) AS u, upper(status) AS u, count(*) AS n FROM orders GROUP BY u

-- query: alias_other_case
SELECT upper(status) AS U, count(*) AS n FROM orders GROUP BY u

-- query: alias_quoted
SELECT upper(status) AS `u v`, count(*) AS n FROM orders GROUP BY `u v`

-- query: alias_of_struct_key_field_selected
SELECT address AS a, a.city AS c, count(*) AS n FROM customers GROUP BY a

-- query: alias_of_struct_field
SELECT address.city AS c, count(*) AS n FROM customers GROUP BY c

-- query: alias_of_subquery_key
SELECT (SELECT max(week) FROM calendar) AS w, count(*) AS n FROM orders GROUP BY w

-- query: alias_of_correlated_subquery_key
SELECT (SELECT max(name) FROM customers c WHERE c.customer_id = o.customer_id) AS w, count(*) AS n FROM orders o GROUP BY w

-- query: alias_lateral_of_key
SELECT status AS s, concat(s, '!') AS t, count(*) AS n FROM orders GROUP BY status

-- query: alias_lateral_of_expression_key
SELECT upper(status) AS u, concat(u, '!') AS t, count(*) AS n FROM orders GROUP BY upper(status)

-- query: alias_lateral_of_aggregates
SELECT sum(amount) AS s, count(*) AS n, s / n AS a, a * 2 AS b FROM orders

-- query: alias_lateral_having
SELECT status, sum(amount) AS s, s * 2 AS t FROM orders GROUP BY status HAVING t > 1

-- query: alias_lateral_order_by
SELECT status, sum(amount) AS s, s * 2 AS t FROM orders GROUP BY status ORDER BY t

-- query: alias_in_rollup
SELECT upper(status) AS u, count(*) AS n FROM orders GROUP BY ROLLUP (u)

-- query: alias_in_cube
SELECT upper(status) AS u, is_gift AS g, count(*) AS n FROM orders GROUP BY CUBE (u, g)

-- query: alias_in_grouping_sets
SELECT upper(status) AS u, is_gift AS g, count(*) AS n FROM orders GROUP BY GROUPING SETS ((u, g), (u), ())

-- query: position_in_rollup
SELECT status, is_gift, count(*) AS n FROM orders GROUP BY ROLLUP (1, 2)

-- query: position_in_cube
SELECT upper(status) AS u, count(*) AS n FROM orders GROUP BY CUBE (1)

-- query: position_in_grouping_sets
SELECT status, is_gift, count(*) AS n FROM orders GROUP BY GROUPING SETS ((1), (1, 2))

-- query: position_parenthesised
SELECT status, count(*) AS n FROM orders GROUP BY (1)

-- query: position_twice
SELECT status, count(*) AS n FROM orders GROUP BY 1, 1

-- query: position_and_name
SELECT status, is_gift, count(*) AS n FROM orders GROUP BY 1, is_gift

-- query: position_of_literal
SELECT 5 AS five, count(*) AS n FROM orders GROUP BY 1

-- query: position_of_integer_column
SELECT quantity, count(*) AS n FROM orders GROUP BY 1 ORDER BY 2

-- query: string_literal_key
SELECT count(*) AS n FROM orders GROUP BY 'status'

-- query: null_key
SELECT count(*) AS n FROM orders GROUP BY NULL

-- query: boolean_key
SELECT is_gift AND is_paid AS b, count(*) AS n FROM orders GROUP BY is_gift AND is_paid

-- query: map_key
SELECT attributes, count(*) AS n FROM products GROUP BY attributes

-- query: key_of_array_of_map
SELECT array(attributes) AS a, count(*) AS n FROM products GROUP BY array(attributes)

-- query: key_with_rand
SELECT count(*) AS n FROM orders GROUP BY rand()

-- query: key_expression_reused
SELECT quantity + 1 AS a, quantity + 1 + 1 AS b, (quantity + 1) * 2 AS c, count(*) AS n FROM orders GROUP BY quantity + 1

-- query: key_expression_otherwise_associated
SELECT 1 + quantity AS a, count(*) AS n FROM orders GROUP BY quantity + 1

-- query: key_in_cast
SELECT CAST(quantity AS STRING) AS a, count(*) AS n FROM orders GROUP BY quantity

-- query: having_alias
SELECT status, count(*) AS n FROM orders GROUP BY status HAVING n > 10

-- query: having_alias_shadowed
SELECT status, sum(quantity) AS quantity FROM orders GROUP BY status HAVING quantity > 10

-- query: having_without_group
SELECT 1 AS one FROM orders HAVING count(*) > 1

-- query: having_not_boolean
SELECT status FROM orders GROUP BY status HAVING count(*)

-- query: having_subquery
SELECT status FROM orders GROUP BY status HAVING count(*) > (SELECT avg(week) FROM calendar)

-- query: having_in_subquery
SELECT status FROM orders GROUP BY status HAVING max(customer_id) IN (SELECT customer_id FROM customers)

-- query: order_by_alias_and_aggregate
SELECT status AS s, sum(amount) AS t FROM orders GROUP BY status ORDER BY t / count(*), s

-- query: order_by_expression_of_key
SELECT upper(status) AS s FROM orders GROUP BY upper(status) ORDER BY upper(status)

-- query: order_by_qualified_key
SELECT o.status AS s FROM orders o GROUP BY o.status ORDER BY o.status
