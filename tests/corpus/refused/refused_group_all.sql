-- query: all_mixed_with_column
SELECT status, quantity + sum(amount) AS s FROM orders GROUP BY ALL

-- query: all_mixed_with_other_expression
SELECT upper(status) AS u, concat(lower(status), count(*)) AS s FROM orders GROUP BY ALL

-- query: all_having_ungrouped
SELECT status FROM orders GROUP BY ALL HAVING quantity > 1

-- query: all_order_by_ungrouped
SELECT status FROM orders GROUP BY ALL ORDER BY amount

-- query: all_and_key
SELECT status, is_gift, count(*) AS n FROM orders GROUP BY ALL, is_gift

-- query: all_a_column_not_selected
SELECT amount, count(*) AS n FROM (SELECT status AS `all`, amount FROM orders) GROUP BY all

-- query: all_a_column_not_selected_upper
SELECT amount, count(*) AS n FROM (SELECT status AS `all`, amount FROM orders) GROUP BY ALL

-- query: all_a_column_other_selected
SELECT `all`, amount, count(*) AS n FROM (SELECT status AS `all`, amount FROM orders) GROUP BY all

-- query: all_an_alias_with_other
SELECT status AS `all`, is_gift, count(*) AS n FROM orders GROUP BY all

-- query: all_an_alias_quoted
SELECT status AS `all`, is_gift, count(*) AS n FROM orders GROUP BY `all`

-- query: all_an_alias_of_aggregate
SELECT status, count(*) AS `all` FROM orders GROUP BY all

-- query: all_ambiguous
SELECT count(*) AS n FROM (SELECT 1 AS all) a, (SELECT 2 AS all) b GROUP BY all

-- query: all_of_lateral_alias
SELECT quantity AS q, q + 1 AS q1, count(*) AS n FROM orders GROUP BY ALL

-- query: all_of_lateral_alias_of_aggregate
SELECT status, sum(amount) AS s, s + 1 AS s1 FROM orders GROUP BY ALL

-- query: all_of_lateral_alias_mixed
SELECT status, upper(status) AS u, count(*) AS n, concat(u, n) AS t FROM orders GROUP BY ALL

-- query: all_of_variant
SELECT body, count(*) AS n FROM events GROUP BY ALL

-- query: all_of_case_with_column_and_aggregate
SELECT CASE WHEN count(*) > 5 THEN status ELSE 'few' END AS c FROM orders GROUP BY ALL

-- query: all_with_grouping
SELECT status, grouping(status) AS g FROM orders GROUP BY ALL

-- query: all_with_rollup
SELECT status, count(*) AS n FROM orders GROUP BY ALL WITH ROLLUP

-- query: all_rollup
SELECT status, count(*) AS n FROM orders GROUP BY ROLLUP (ALL)

-- query: all_pipe
FROM orders |> AGGREGATE count(*) AS n GROUP BY ALL

-- query: all_unknown_column
SELECT nothing, count(*) FROM orders GROUP BY ALL

-- query: all_nested_aggregate
SELECT status, sum(count(*)) AS s FROM orders GROUP BY ALL

-- query: distinct_by_all
SELECT DISTINCT ALL status FROM orders GROUP BY ALL

-- query: alias_key_shadowed_by_column
SELECT upper(status) AS note, count(*) AS n FROM orders GROUP BY note

-- query: alias_in_expression_key
SELECT upper(status) AS u, count(*) AS n FROM orders GROUP BY lower(u)

-- query: alias_of_alias_key
SELECT upper(status) AS u, length(u) AS l, count(*) AS n FROM orders GROUP BY l

-- query: alias_of_alias_both_keys
SELECT upper(status) AS u, length(u) AS l, count(*) AS n FROM orders GROUP BY u, l

-- query: alias_of_alias_by_position
SELECT upper(status) AS u, length(u) AS l, count(*) AS n FROM orders GROUP BY 1, 2

-- query: alias_of_alias_second_by_position
SELECT upper(status) AS u, length(u) AS l, count(*) AS n FROM orders GROUP BY 2

-- query: alias_of_column_alias_key
SELECT status AS s, s AS t, count(*) AS n FROM orders GROUP BY t

-- query: alias_of_aggregate_key
SELECT status, sum(amount) AS s FROM orders GROUP BY status, s

-- query: alias_twice
SELECT upper(status) AS u, lower(status) AS u, count(*) AS n FROM orders GROUP BY u

-- query: alias_of_struct_field_key
SELECT address AS a, count(*) AS n FROM customers GROUP BY a.city

-- query: alias_of_generator_key
SELECT explode(array(1, 2)) AS e, count(*) AS n FROM orders GROUP BY e

-- query: alias_of_correlated_subquery_grouped_by_outer
SELECT (SELECT max(name) FROM customers c WHERE c.customer_id = o.customer_id) AS w, count(*) AS n FROM orders o GROUP BY o.customer_id

-- query: alias_lateral_in_aggregate
SELECT amount * 2 AS d, sum(d) AS s FROM orders GROUP BY d

-- query: alias_lateral_in_aggregate_ungrouped
SELECT status, amount * 2 AS d, sum(d) AS s FROM orders GROUP BY status

-- query: alias_lateral_of_aggregate_in_aggregate
SELECT status, sum(amount) AS s, max(s) AS m FROM orders GROUP BY status

-- query: alias_lateral_in_subquery
SELECT quantity AS q, (SELECT max(week) FROM calendar WHERE week > q) AS w FROM orders

-- query: alias_lateral_in_rollup
SELECT upper(status) AS u, length(u) AS l, count(*) AS n FROM orders GROUP BY ROLLUP (u, l)

-- query: alias_in_rollup_with_grouping
SELECT upper(status) AS u, grouping(u) AS g, count(*) AS n FROM orders GROUP BY ROLLUP (u)

-- query: alias_in_rollup_with_grouping_of_expression
SELECT upper(status) AS u, grouping(upper(status)) AS g, count(*) AS n FROM orders GROUP BY ROLLUP (u)

-- query: position_out_of_range
SELECT status, count(*) AS n FROM orders GROUP BY 3

-- query: position_zero
SELECT status, count(*) AS n FROM orders GROUP BY 0

-- query: position_negative
SELECT status, count(*) AS n FROM orders GROUP BY -1

-- query: position_of_aggregate
SELECT status, count(*) AS n FROM orders GROUP BY 1, 2

-- query: position_of_aggregate_in_rollup
SELECT status, count(*) AS n FROM orders GROUP BY ROLLUP (1, 2)

-- query: position_of_star
SELECT * FROM calendar GROUP BY 1

-- query: position_of_star_all
SELECT c.* FROM calendar c GROUP BY 1, 2, 3, 4, 5, 6

-- query: position_in_expression
SELECT status, count(*) AS n FROM orders GROUP BY 1 + 0

-- query: position_bigint
SELECT status, count(*) AS n FROM orders GROUP BY 1L

-- query: position_decimal
SELECT status, count(*) AS n FROM orders GROUP BY 1.0

-- query: position_of_window
SELECT row_number() OVER (ORDER BY order_id) AS r, count(*) AS n FROM orders GROUP BY 1

-- query: position_of_lateral
SELECT quantity AS q, q * 2 AS d, sum(amount) AS s FROM orders GROUP BY 1, 2

-- query: position_of_generator
SELECT explode(array(1, 2)) AS e, count(*) AS n FROM orders GROUP BY 1

-- query: variant_key
SELECT body, count(*) AS n FROM events GROUP BY body

-- query: key_used_otherwise
SELECT quantity + 2 AS a, count(*) AS n FROM orders GROUP BY quantity + 1

-- query: cast_of_key_only
SELECT quantity AS a, count(*) AS n FROM orders GROUP BY CAST(quantity AS STRING)

-- query: having_without_group_column
SELECT status FROM orders HAVING count(*) > 1

-- query: having_without_aggregate
SELECT status FROM orders HAVING status = 'a'

-- query: order_by_column_of_alias
SELECT upper(status) AS s FROM orders GROUP BY upper(status) ORDER BY status

-- query: order_by_aggregate_of_alias
SELECT status, quantity AS q FROM orders GROUP BY status, q ORDER BY max(q)

-- query: group_by_empty
SELECT count(*) AS n FROM orders GROUP BY ()
