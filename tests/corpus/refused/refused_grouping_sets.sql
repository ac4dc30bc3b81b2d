-- query: sets_empty_with_column
SELECT status, count(*) AS n FROM orders GROUP BY GROUPING SETS (())

-- query: sets_none
SELECT count(*) AS n FROM orders GROUP BY GROUPING SETS ()

-- query: rollup_of_empty
SELECT count(*) AS n FROM orders GROUP BY ROLLUP ()

-- query: cube_of_empty
SELECT count(*) AS n FROM orders GROUP BY CUBE ()

-- query: with_cube_parenthesised
SELECT status, is_gift, count(*) AS n FROM orders GROUP BY (status, is_gift) WITH CUBE

-- query: with_rollup_after_rollup
SELECT status, is_gift, count(*) AS n FROM orders GROUP BY ROLLUP (status), is_gift WITH ROLLUP

-- query: grouping_of_two
SELECT status, grouping(status, is_gift) AS g FROM orders GROUP BY ROLLUP (status, is_gift)

-- query: grouping_of_none
SELECT status, grouping() AS g FROM orders GROUP BY ROLLUP (status)

-- query: grouping_of_other_expression
SELECT upper(status) AS u, grouping(status) AS g FROM orders GROUP BY CUBE (upper(status))

-- query: grouping_of_non_key
SELECT status, grouping(quantity) AS g FROM orders GROUP BY CUBE (status)

-- query: grouping_without_group
SELECT grouping(status) AS g FROM orders

-- query: grouping_in_plain_group
SELECT status, grouping(status) AS g FROM orders GROUP BY status

-- query: grouping_in_where
SELECT status FROM orders WHERE grouping(status) = 1 GROUP BY CUBE (status)

-- query: grouping_in_having_of_plain_group
SELECT status, count(*) AS n FROM orders GROUP BY status HAVING grouping(status) = 1

-- query: grouping_in_order_by_of_plain_group
SELECT status, count(*) AS n FROM orders GROUP BY status ORDER BY grouping(status)

-- query: grouping_in_group_by
SELECT count(*) AS n FROM orders GROUP BY ROLLUP (status), grouping(status)

-- query: grouping_id_of_keys_in_other_order
SELECT status, is_gift, grouping_id(is_gift, status) AS g FROM orders GROUP BY CUBE (status, is_gift)

-- query: grouping_id_of_one_of_two
SELECT status, is_gift, grouping_id(status) AS g FROM orders GROUP BY CUBE (status, is_gift)

-- query: grouping_id_in_plain_group
SELECT status, grouping_id() AS g FROM orders GROUP BY status

-- query: spark_grouping_id_column
SELECT status, spark_grouping_id FROM orders GROUP BY CUBE (status)

-- query: ungrouped_in_rollup
SELECT status, quantity, count(*) AS n FROM orders GROUP BY ROLLUP (status)

-- query: ungrouped_in_having_of_cube
SELECT status, count(*) AS n FROM orders GROUP BY CUBE (status) HAVING quantity > 1

-- query: ungrouped_in_order_by_of_cube
SELECT status, count(*) AS n FROM orders GROUP BY CUBE (status) ORDER BY quantity

-- query: aggregate_in_rollup_key
SELECT count(*) AS n FROM orders GROUP BY ROLLUP (sum(amount))

-- query: generator_in_rollup_key
SELECT count(*) AS n FROM orders GROUP BY ROLLUP (explode(array(1, 2)))

-- query: star_in_partial_rollup
SELECT * FROM calendar GROUP BY ROLLUP (day, week)

-- query: unknown_column_in_rollup
SELECT count(*) AS n FROM orders GROUP BY ROLLUP (nothing)

-- query: unknown_column_in_sets
SELECT count(*) AS n FROM orders GROUP BY GROUPING SETS ((status), (nothing))

-- query: cube_correlated
SELECT (SELECT count(*) FROM orders o WHERE o.customer_id = c.customer_id GROUP BY CUBE (o.status)) AS n FROM customers c

-- query: window_over_cube_key
SELECT quantity, lag(quantity) OVER (ORDER BY quantity) AS l, max(quantity) OVER () AS m, first_value(quantity) OVER (ORDER BY count(*)) AS f FROM orders GROUP BY CUBE (quantity)

-- query: window_over_cube_ungrouped
SELECT status, rank() OVER (ORDER BY quantity) AS r FROM orders GROUP BY CUBE (status)

-- query: pipe_rollup
FROM orders |> AGGREGATE count(*) AS n GROUP BY ROLLUP (status, quantity)

-- query: pipe_cube_grouping
FROM orders |> AGGREGATE count(*) AS n, grouping(status) AS g GROUP BY CUBE (status)

-- query: pipe_grouping_sets
FROM orders |> AGGREGATE count(*) AS n GROUP BY GROUPING SETS ((status), (quantity))

-- query: having_window_in_cube
SELECT status FROM orders GROUP BY CUBE (status) HAVING rank() OVER (ORDER BY count(*)) = 1

-- query: grouping_of_alias
SELECT status AS s, grouping(s) AS g FROM orders GROUP BY ROLLUP (status)

-- query: grouping_distinct
SELECT status, grouping(DISTINCT status) AS g FROM orders GROUP BY ROLLUP (status)

-- query: grouping_filter
SELECT status, grouping(status) FILTER (WHERE is_gift) AS g FROM orders GROUP BY ROLLUP (status)

-- query: grouping_over
SELECT status, grouping(status) OVER () AS g FROM orders GROUP BY ROLLUP (status)

-- query: grouping_star
SELECT status, grouping(*) AS g FROM orders GROUP BY ROLLUP (status)

-- query: grouping_of_literal
SELECT status, grouping(1) AS g FROM orders GROUP BY ROLLUP (status)

-- query: rollup_without_parentheses
SELECT status, count(*) AS n FROM orders GROUP BY ROLLUP status

-- query: cube_as_function
SELECT cube(status) AS n FROM orders

-- query: rollup_as_function
SELECT rollup(status) AS n FROM orders

-- query: sets_without_by
SELECT status, count(*) AS n FROM orders GROUP GROUPING SETS ((status))
