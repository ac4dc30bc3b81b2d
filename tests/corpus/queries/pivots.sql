-- query: one_aggregate
SELECT * FROM (SELECT customer_id, status, amount FROM orders) PIVOT (sum(amount) FOR status IN ('a', 'b'))

-- query: one_aggregate_alias
SELECT * FROM (SELECT customer_id, status, amount FROM orders) PIVOT (sum(amount) AS s FOR status IN ('a', 'b'))

-- query: two_aggregates
SELECT * FROM (SELECT customer_id, status, amount FROM orders) PIVOT (sum(amount) AS s, count(*) AS n FOR status IN ('a', 'b'))

-- query: two_aggregates_without_alias
SELECT * FROM (SELECT customer_id, status, amount FROM orders) PIVOT (sum(amount), max(amount) FOR status IN ('a', 'b'))

-- query: two_aggregates_of_one_name
SELECT * FROM (SELECT customer_id, status, amount FROM orders) PIVOT (sum(amount) AS s, max(amount) AS s FOR status IN ('a', 'b'))

-- query: value_alias
SELECT * FROM (SELECT customer_id, status, amount FROM orders) PIVOT (sum(amount) FOR status IN ('a' AS first, 'b' second))

-- query: value_alias_two_aggregates
SELECT * FROM (SELECT customer_id, status, amount FROM orders) PIVOT (sum(amount) AS s, count(*) AS n FOR status IN ('a' AS first, 'b' AS second))

-- query: value_alias_twice
SELECT * FROM (SELECT customer_id, status, amount FROM orders) PIVOT (sum(amount) FOR status IN ('a' AS x, 'b' AS x))

-- query: value_twice
SELECT * FROM (SELECT customer_id, status, amount FROM orders) PIVOT (sum(amount) FOR status IN ('a', 'a'))

-- query: value_null
SELECT * FROM (SELECT customer_id, status, amount FROM orders) PIVOT (sum(amount) FOR status IN ('a', NULL))

-- query: value_null_alias
SELECT * FROM (SELECT customer_id, status, amount FROM orders) PIVOT (sum(amount) FOR status IN (NULL AS none))

-- query: value_of_wrong_type
SELECT * FROM (SELECT customer_id, status, amount FROM orders) PIVOT (sum(amount) FOR status IN (1, 2))

-- query: value_of_castable_type
SELECT * FROM (SELECT customer_id, quantity, amount FROM orders) PIVOT (sum(amount) FOR quantity IN ('1', '2'))

-- query: value_decimal_for_int
SELECT * FROM (SELECT customer_id, quantity, amount FROM orders) PIVOT (sum(amount) FOR quantity IN (1.5, 2))

-- query: value_int_for_decimal
SELECT * FROM (SELECT customer_id, quantity, amount FROM orders) PIVOT (count(quantity) FOR amount IN (1, 2.50))

-- query: value_string_for_date
SELECT * FROM (SELECT customer_id, order_date, amount FROM orders) PIVOT (sum(amount) FOR order_date IN ('2020-01-01'))

-- query: value_date
SELECT * FROM (SELECT customer_id, order_date, amount FROM orders) PIVOT (sum(amount) FOR order_date IN (DATE '2020-01-01', DATE '2020-01-02' AS second))

-- query: value_timestamp
SELECT * FROM (SELECT customer_id, ordered_at, amount FROM orders) PIVOT (sum(amount) FOR ordered_at IN (TIMESTAMP '2020-01-01 00:00:00'))

-- query: value_boolean
SELECT * FROM (SELECT customer_id, is_gift, amount FROM orders) PIVOT (sum(amount) FOR is_gift IN (true, false))

-- query: value_boolean_alias
SELECT * FROM (SELECT customer_id, is_gift, amount FROM orders) PIVOT (sum(amount) AS s FOR is_gift IN (true AS gift, false AS plain))

-- query: value_int
SELECT * FROM (SELECT customer_id, quantity, amount FROM orders) PIVOT (sum(amount) FOR quantity IN (1, 2, -3))

-- query: value_double
SELECT * FROM (SELECT customer_id, tax, amount FROM orders) PIVOT (sum(amount) FOR tax IN (1.5D, 2D))

-- query: value_expression
SELECT * FROM (SELECT customer_id, quantity, amount FROM orders) PIVOT (sum(amount) FOR quantity IN (1 + 1, 3))

-- query: value_expression_alias
SELECT * FROM (SELECT customer_id, quantity, amount FROM orders) PIVOT (sum(amount) FOR quantity IN (1 + 1 AS two))

-- query: value_concat
SELECT * FROM (SELECT customer_id, status, amount FROM orders) PIVOT (sum(amount) FOR status IN (concat('a', 'b') AS ab))

-- query: value_upper
SELECT * FROM (SELECT customer_id, status, amount FROM orders) PIVOT (sum(amount) FOR status IN (upper('a')))

-- query: value_cast
SELECT * FROM (SELECT customer_id, order_date, amount FROM orders) PIVOT (sum(amount) FOR order_date IN (CAST('2020-01-01' AS DATE) AS d))

-- query: value_current_date
SELECT * FROM (SELECT customer_id, order_date, amount FROM orders) PIVOT (sum(amount) FOR order_date IN (current_date() AS d))

-- query: value_interval
SELECT * FROM (SELECT sku, lead_time, price FROM products) PIVOT (sum(price) FOR lead_time IN (INTERVAL '1' DAY AS d))

-- query: value_struct
SELECT * FROM (SELECT customer_id, struct(status, quantity) AS k, amount FROM orders) PIVOT (sum(amount) FOR k IN (struct('a', 1) AS a1))

-- query: value_array
SELECT * FROM (SELECT sku, sizes, price FROM products) PIVOT (sum(price) FOR sizes IN (array(1, 2) AS s))

-- query: two_columns
SELECT * FROM (SELECT customer_id, status, is_gift, amount FROM orders) PIVOT (sum(amount) FOR (status, is_gift) IN (('a', true), ('b', false)))

-- query: two_columns_alias
SELECT * FROM (SELECT customer_id, status, is_gift, amount FROM orders) PIVOT (sum(amount) AS s, count(*) AS n FOR (status, is_gift) IN (('a', true) AS at, ('b', false) AS bf))

-- query: one_column_in_parentheses
SELECT * FROM (SELECT customer_id, status, amount FROM orders) PIVOT (sum(amount) FOR (status) IN ('a'))

-- query: one_column_tuple_value
SELECT * FROM (SELECT customer_id, status, amount FROM orders) PIVOT (sum(amount) FOR status IN (('a'), ('b')))

-- query: aggregate_expression
SELECT * FROM (SELECT customer_id, status, amount FROM orders) PIVOT (sum(amount) / count(*) AS a FOR status IN ('a', 'b'))

-- query: aggregate_expression_without_alias
SELECT * FROM (SELECT customer_id, status, amount FROM orders) PIVOT (sum(amount) * 2 FOR status IN ('a', 'b'))

-- query: aggregate_coalesce
SELECT * FROM (SELECT customer_id, status, amount FROM orders) PIVOT (coalesce(sum(amount), 0) AS a FOR status IN ('a', 'b'))

-- query: aggregate_round
SELECT * FROM (SELECT customer_id, status, tax FROM orders) PIVOT (round(avg(tax), 2) FOR status IN ('a', 'b'))

-- query: aggregate_cast
SELECT * FROM (SELECT customer_id, status, amount FROM orders) PIVOT (CAST(sum(amount) AS DOUBLE) AS d FOR status IN ('a'))

-- query: aggregate_case
SELECT * FROM (SELECT customer_id, status, amount, quantity FROM orders) PIVOT (sum(CASE WHEN quantity > 1 THEN amount ELSE 0 END) AS d FOR status IN ('a'))

-- query: aggregate_of_expression
SELECT * FROM (SELECT customer_id, status, amount, quantity FROM orders) PIVOT (sum(amount * quantity) FOR status IN ('a'))

-- query: aggregate_of_pivot_column
SELECT * FROM (SELECT customer_id, status, amount FROM orders) PIVOT (max(status) FOR status IN ('a'))

-- query: aggregate_of_literal
SELECT * FROM (SELECT customer_id, status, amount FROM orders) PIVOT (sum(1) FOR status IN ('a'))

-- query: aggregate_literal_only
SELECT * FROM (SELECT customer_id, status, amount FROM orders) PIVOT (1 FOR status IN ('a'))

-- query: aggregate_distinct
SELECT * FROM (SELECT customer_id, status, amount FROM orders) PIVOT (count(DISTINCT amount) AS n FOR status IN ('a', 'b'))

-- query: aggregate_filter
SELECT * FROM (SELECT customer_id, status, amount, is_gift FROM orders) PIVOT (sum(amount) FILTER (WHERE is_gift) FOR status IN ('a', 'b'))

-- query: aggregate_first
SELECT * FROM (SELECT customer_id, status, amount FROM orders) PIVOT (first(amount) FOR status IN ('a', 'b'))

-- query: aggregate_any_value
SELECT * FROM (SELECT customer_id, status, amount FROM orders) PIVOT (any_value(amount) AS v FOR status IN ('a', 'b'))

-- query: aggregate_collect_list
SELECT * FROM (SELECT customer_id, status, amount FROM orders) PIVOT (collect_list(amount) FOR status IN ('a', 'b'))

-- query: aggregate_median
SELECT * FROM (SELECT customer_id, status, amount FROM orders) PIVOT (median(amount) FOR status IN ('a', 'b'))

-- query: aggregate_percentile_cont
SELECT * FROM (SELECT customer_id, status, amount FROM orders) PIVOT (percentile_cont(0.5) WITHIN GROUP (ORDER BY amount) AS p FOR status IN ('a', 'b'))

-- query: aggregate_mode
SELECT * FROM (SELECT customer_id, status, note FROM orders) PIVOT (mode(note) FOR status IN ('a', 'b'))

-- query: aggregate_max_by
SELECT * FROM (SELECT customer_id, status, note, amount FROM orders) PIVOT (max_by(note, amount) FOR status IN ('a', 'b'))

-- query: aggregate_struct
SELECT * FROM (SELECT customer_id, status, note, amount FROM orders) PIVOT (max(struct(amount, note)) AS m FOR status IN ('a', 'b'))

-- query: aggregate_named_struct_of_aggregates
SELECT * FROM (SELECT customer_id, status, amount FROM orders) PIVOT (named_struct('s', sum(amount), 'n', count(*)) AS m FOR status IN ('a', 'b'))

-- query: aggregate_star_count
SELECT * FROM (SELECT customer_id, status FROM orders) PIVOT (count(*) FOR status IN ('a', 'b'))

-- query: aggregate_count_one
SELECT * FROM (SELECT customer_id, status FROM orders) PIVOT (count(1) AS n FOR status IN ('a', 'b'))

-- query: aggregate_bool
SELECT * FROM (SELECT customer_id, status, is_gift FROM orders) PIVOT (bool_or(is_gift) FOR status IN ('a', 'b'))

-- query: aggregate_types
SELECT * FROM (SELECT customer_id, status, quantity, tax, order_date FROM orders) PIVOT (avg(quantity) AS a, max(order_date) AS m, stddev(tax) AS t, approx_count_distinct(tax) AS c FOR status IN ('a', 'b'))

-- query: aggregate_subquery
SELECT * FROM (SELECT customer_id, status, amount FROM orders) PIVOT (sum((SELECT 1)) FOR status IN ('a', 'b'))

-- query: no_group_columns
SELECT * FROM (SELECT status, amount FROM orders) PIVOT (sum(amount) FOR status IN ('a', 'b'))

-- query: pivot_of_table
SELECT * FROM quarterly_sales PIVOT (sum(q1) FOR region IN ('n', 's'))

-- query: pivot_without_alias_qualified
SELECT o.customer_id FROM (SELECT customer_id, status, amount FROM orders) o PIVOT (sum(amount) FOR status IN ('a'))

-- query: pivot_where
SELECT * FROM (SELECT customer_id, status, amount FROM orders) PIVOT (sum(amount) FOR status IN ('a')) WHERE a > 1

-- query: pivot_group_by
SELECT max(a) AS m FROM (SELECT customer_id, status, amount FROM orders) PIVOT (sum(amount) FOR status IN ('a')) GROUP BY customer_id

-- query: pivot_twice
SELECT * FROM (SELECT customer_id, status, is_gift, amount, quantity FROM orders) PIVOT (sum(amount) FOR status IN ('a')) PIVOT (sum(quantity) FOR is_gift IN (true AS gift))

-- query: pivot_join
SELECT * FROM customers c JOIN (SELECT * FROM (SELECT customer_id, status, amount FROM orders) PIVOT (sum(amount) FOR status IN ('a'))) p ON c.customer_id = p.customer_id

-- query: pivot_after_join
SELECT * FROM (SELECT c.country, o.status, o.amount FROM orders o JOIN customers c USING (customer_id)) PIVOT (sum(amount) FOR status IN ('a', 'b'))

-- query: pivot_directly_after_join
SELECT * FROM orders JOIN calendar ON order_date = day PIVOT (sum(amount) FOR status IN ('a', 'b'))

-- query: pivot_with_group_by
SELECT customer_id, a FROM orders PIVOT (sum(amount) FOR status IN ('a'))

-- query: pivot_of_cte
WITH s AS (SELECT year(order_date) AS y, month(order_date) AS m, amount FROM orders) SELECT * FROM s PIVOT (sum(amount) FOR m IN (1 AS jan, 2 AS feb)) ORDER BY y

-- query: pivot_of_grouped
SELECT * FROM (SELECT customer_id, status, sum(amount) AS s FROM orders GROUP BY customer_id, status) PIVOT (max(s) FOR status IN ('a', 'b'))

-- query: pivot_of_cube
SELECT * FROM (SELECT quantity, status, sum(amount) AS s FROM orders GROUP BY CUBE (quantity, status)) PIVOT (max(s) FOR status IN ('a', 'b'))

-- query: pivot_of_map_group
SELECT * FROM (SELECT attributes, category, price FROM products) PIVOT (sum(price) FOR category IN ('a'))

-- query: pivot_of_values
SELECT * FROM VALUES (1, 'a', 10), (2, 'b', 20) AS t(id, k, v) PIVOT (sum(v) FOR k IN ('a', 'b'))

-- query: pivot_name_clash
SELECT * FROM (SELECT customer_id AS a, status, amount FROM orders) PIVOT (sum(amount) FOR status IN ('a'))

-- query: pivot_number_names
SELECT `1`, `2` FROM (SELECT customer_id, quantity, amount FROM orders) PIVOT (sum(amount) FOR quantity IN (1, 2))

-- query: pivot_names_of_two
SELECT a_s, a_n FROM (SELECT customer_id, status, amount FROM orders) PIVOT (sum(amount) AS s, count(*) AS n FOR status IN ('a', 'b'))

-- query: pivot_names_of_two_unaliased
SELECT `a_sum(amount)`, a_n FROM (SELECT customer_id, status, amount FROM orders) PIVOT (sum(amount), count(*) AS n FOR status IN ('a', 'b'))

-- query: pivot_names_of_tuple
SELECT `{a, true}` FROM (SELECT customer_id, status, is_gift, amount FROM orders) PIVOT (sum(amount) FOR (status, is_gift) IN (('a', true), ('b', false)))

-- query: pivot_pipe
FROM orders |> SELECT customer_id, status, amount |> PIVOT (sum(amount) AS s FOR status IN ('a', 'b'))

-- query: pivot_pipe_expression
FROM orders |> SELECT customer_id, status, amount |> PIVOT (sum(amount) / count(*) FOR status IN ('a' AS x))

-- query: pivot_in_view_of_star
SELECT * EXCEPT (a) FROM (SELECT customer_id, status, amount FROM orders) PIVOT (sum(amount) FOR status IN ('a', 'b'))

-- query: pivot_duplicate_columns
SELECT * FROM (SELECT customer_id, status, status, amount FROM orders) PIVOT (sum(amount) FOR status IN ('a'))

-- query: unpivot_single
SELECT * FROM quarterly_sales UNPIVOT (v FOR k IN (q1, q2))

-- query: unpivot_include_nulls
SELECT * FROM quarterly_sales UNPIVOT INCLUDE NULLS (v FOR k IN (q1, q2))

-- query: unpivot_exclude_nulls
SELECT * FROM quarterly_sales UNPIVOT EXCLUDE NULLS (v FOR k IN (q1, q2))

-- query: unpivot_alias
SELECT * FROM quarterly_sales UNPIVOT (v FOR k IN (q1 AS first, q2 AS second))

-- query: unpivot_types_widened
SELECT * FROM quarterly_sales UNPIVOT (v FOR k IN (q3, q4))

-- query: unpivot_types_decimal_and_int
SELECT * FROM quarterly_sales UNPIVOT (v FOR k IN (q1, q3))

-- query: unpivot_types_decimal_and_bigint
SELECT * FROM quarterly_sales UNPIVOT (v FOR k IN (q1, q2, q3, q4))

-- query: unpivot_types_date_and_timestamp
SELECT * FROM (SELECT order_id, order_date, ordered_at FROM orders) UNPIVOT (v FOR k IN (order_date, ordered_at))

-- query: unpivot_types_float_and_decimal
SELECT * FROM (SELECT order_id, weight, amount FROM orders) UNPIVOT (v FOR k IN (weight, amount))

-- query: unpivot_multi
SELECT * FROM quarterly_sales UNPIVOT ((a, b) FOR half IN ((q1, q2) AS h1, (q3, q4) AS h2))

-- query: unpivot_multi_without_alias
SELECT * FROM quarterly_sales UNPIVOT ((a, b) FOR half IN ((q1, q2), (q3, q4)))

-- query: unpivot_multi_types
SELECT * FROM quarterly_sales UNPIVOT ((a, b) FOR half IN ((q1, region), (q3, product)))

-- query: unpivot_one_in_parentheses
SELECT * FROM quarterly_sales UNPIVOT ((v) FOR k IN ((q1), (q2)))

-- query: unpivot_qualified
SELECT * FROM quarterly_sales s UNPIVOT (v FOR k IN (s.q1, s.q2))

-- query: unpivot_same_twice
SELECT * FROM quarterly_sales UNPIVOT (v FOR k IN (q1, q1))

-- query: unpivot_all_columns
SELECT * FROM (SELECT q1, q2 FROM quarterly_sales) UNPIVOT (v FOR k IN (q1, q2))

-- query: unpivot_table_alias
SELECT u.region, u.v FROM quarterly_sales UNPIVOT (v FOR k IN (q1, q2)) AS u

-- query: unpivot_not_null
SELECT * FROM quarterly_sales UNPIVOT (v FOR k IN (q2, q4))

-- query: unpivot_not_null_include
SELECT * FROM quarterly_sales UNPIVOT INCLUDE NULLS (v FOR k IN (q2, q4))

-- query: unpivot_nullable_only
SELECT * FROM (SELECT region, q1 FROM quarterly_sales) UNPIVOT (v FOR k IN (q1))

-- query: unpivot_where
SELECT k, sum(v) AS s FROM quarterly_sales UNPIVOT (v FOR k IN (q1, q2)) WHERE v > 0 GROUP BY k

-- query: unpivot_then_pivot
SELECT * FROM quarterly_sales UNPIVOT (v FOR k IN (q1, q2)) PIVOT (sum(v) FOR k IN ('q1', 'q2'))

-- query: unpivot_of_arrays
SELECT * FROM (SELECT product_id, sizes, array(1L) AS others FROM products) UNPIVOT (v FOR k IN (sizes, others))

-- query: unpivot_of_join
SELECT * FROM (SELECT o.order_id, o.quantity, l.line_no FROM orders o JOIN order_lines l ON o.order_id = l.order_id) UNPIVOT (v FOR k IN (quantity, line_no))

-- query: unpivot_of_cte
WITH t AS (SELECT region, q1, q2 FROM quarterly_sales) SELECT * FROM t UNPIVOT (v FOR k IN (q1, q2))

-- query: unpivot_pipe
FROM quarterly_sales |> UNPIVOT (v FOR k IN (q1, q2))

-- query: unpivot_pipe_multi
FROM quarterly_sales |> UNPIVOT INCLUDE NULLS ((a, b) FOR half IN ((q1, q2) AS h1, (q3, q4) AS h2)) |> WHERE a > b

-- query: unpivot_backquoted_alias
SELECT * FROM quarterly_sales UNPIVOT (v FOR k IN (q1 `first quarter`, q2 `second quarter`))

-- query: lateral_unpivot
SELECT * FROM calendar c, quarterly_sales UNPIVOT (v FOR k IN (q1, q2))
