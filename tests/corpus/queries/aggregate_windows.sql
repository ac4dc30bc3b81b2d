-- query: share_of_group_total
SELECT status, sum(amount) AS s, sum(amount) / sum(sum(amount)) OVER () AS share FROM orders GROUP BY status

-- query: rank_by_count
SELECT status, count(*) AS n, rank() OVER (ORDER BY count(*) DESC) AS r FROM orders GROUP BY status

-- query: partition_by_group_key
SELECT status, is_gift, sum(sum(amount)) OVER (PARTITION BY status) AS s FROM orders GROUP BY status, is_gift

-- query: partition_by_key_not_selected
SELECT sum(sum(amount)) OVER (PARTITION BY status) AS s FROM orders GROUP BY status, is_gift

-- query: argument_is_key
SELECT status, lag(status) OVER (ORDER BY status) AS r FROM orders GROUP BY status

-- query: max_of_key_over
SELECT status, max(status) OVER () AS m FROM orders GROUP BY status

-- query: key_expression_in_partition
SELECT year(order_date) AS y, sum(sum(amount)) OVER (PARTITION BY year(order_date)) AS s FROM orders GROUP BY year(order_date), month(order_date)

-- query: expression_over_key
SELECT status, row_number() OVER (ORDER BY upper(status), length(status) DESC) AS r FROM orders GROUP BY status

-- query: window_without_group_by
SELECT sum(sum(amount)) OVER () AS s FROM orders

-- query: window_of_count_without_group_by
SELECT count(*) AS n, rank() OVER (ORDER BY count(*)) AS r FROM orders

-- query: moving_average_of_sums
SELECT order_date, avg(sum(amount)) OVER (ORDER BY order_date ROWS BETWEEN 6 PRECEDING AND CURRENT ROW) AS a FROM orders GROUP BY order_date

-- query: lag_of_sum
SELECT order_date, sum(amount) - lag(sum(amount)) OVER (ORDER BY order_date) AS d FROM orders GROUP BY order_date

-- query: lag_of_sum_with_default
SELECT order_date, lag(sum(amount), 1, 0) OVER (ORDER BY order_date) AS d FROM orders GROUP BY order_date

-- query: lead_of_count_with_default
SELECT order_date, lead(count(*), 1, -1L) OVER (ORDER BY order_date) AS d FROM orders GROUP BY order_date

-- query: first_value_of_aggregate
SELECT customer_id, first_value(max(amount)) OVER (ORDER BY min(ordered_at)) AS f, last_value(count(note)) OVER (ORDER BY customer_id) AS l FROM orders GROUP BY customer_id

-- query: window_inside_window
SELECT status, sum(rank() OVER (ORDER BY status)) OVER () AS s FROM orders GROUP BY status

-- query: window_inside_window_spec
SELECT status, sum(amount) OVER (ORDER BY row_number() OVER (ORDER BY order_id)) AS s FROM orders

-- query: having_aggregate_with_window
SELECT status, rank() OVER (ORDER BY count(*)) AS r FROM orders GROUP BY status HAVING count(*) > 3

-- query: having_aggregate_not_selected_with_window
SELECT status, rank() OVER (ORDER BY count(*)) AS r FROM orders GROUP BY status HAVING max(amount) > 3

-- query: order_by_alias_of_window_in_group
SELECT status, rank() OVER (ORDER BY count(*)) AS r FROM orders GROUP BY status ORDER BY r

-- query: order_by_key_beside_window
SELECT rank() OVER (ORDER BY count(*)) AS r FROM orders GROUP BY status ORDER BY status

-- query: order_by_expression_of_window_alias
SELECT status, rank() OVER (ORDER BY count(*)) AS r FROM orders GROUP BY status ORDER BY r + 1, status

-- query: order_by_position_of_window
SELECT status, rank() OVER (ORDER BY count(*)) AS r FROM orders GROUP BY status ORDER BY 2 DESC

-- query: limit_after_window
SELECT status, rank() OVER (ORDER BY count(*)) AS r FROM orders GROUP BY status ORDER BY r LIMIT 3

-- query: named_window_over_aggregates
SELECT status, sum(sum(amount)) OVER w AS s, avg(count(*)) OVER w AS a FROM orders GROUP BY status, is_gift WINDOW w AS (PARTITION BY status)

-- query: named_window_by_aggregate
SELECT status, row_number() OVER w AS s FROM orders GROUP BY status WINDOW w AS (ORDER BY sum(amount) DESC, status)

-- query: window_in_case
SELECT status, CASE WHEN row_number() OVER (ORDER BY count(*) DESC) <= 5 THEN status ELSE 'other' END AS c FROM orders GROUP BY status

-- query: group_by_all_with_window_of_aggregate
SELECT status, rank() OVER (ORDER BY count(*)) AS r FROM orders GROUP BY ALL

-- query: distinct_window_over_aggregates
SELECT DISTINCT is_gift, sum(count(*)) OVER (PARTITION BY is_gift) AS n FROM orders GROUP BY is_gift, status

-- query: filter_inside_aggregate_in_window
SELECT status, sum(count(*) FILTER (WHERE is_gift)) OVER () AS s FROM orders GROUP BY status

-- query: grouping_in_window
SELECT status, is_gift, rank() OVER (PARTITION BY grouping_id() ORDER BY sum(amount) DESC) AS r FROM orders GROUP BY ROLLUP (status, is_gift)

-- query: grouping_of_column_in_window
SELECT status, rank() OVER (PARTITION BY grouping(status) ORDER BY sum(amount)) AS r FROM orders GROUP BY CUBE (status)

-- query: rank_in_grouping_sets
SELECT status, is_gift, sum(amount) AS s, sum(sum(amount)) OVER (PARTITION BY is_gift) AS t FROM orders GROUP BY GROUPING SETS ((status, is_gift), (status), ())

-- query: range_over_aggregate
SELECT status, sum(count(*)) OVER (ORDER BY sum(quantity) RANGE BETWEEN 10 PRECEDING AND CURRENT ROW) AS s FROM orders GROUP BY status

-- query: range_over_date_key
SELECT order_date, sum(count(*)) OVER (ORDER BY order_date RANGE BETWEEN INTERVAL 6 DAYS PRECEDING AND CURRENT ROW) AS s FROM orders GROUP BY order_date

-- query: range_over_decimal_sum
SELECT status, sum(count(*)) OVER (ORDER BY sum(amount) RANGE BETWEEN 10.5 PRECEDING AND CURRENT ROW) AS s FROM orders GROUP BY status

-- query: ntile_of_groups
SELECT customer_id, ntile(10) OVER (ORDER BY sum(amount)) AS d, percent_rank() OVER (ORDER BY sum(amount)) AS p, cume_dist() OVER (ORDER BY count(*)) AS c FROM orders GROUP BY customer_id

-- query: struct_of_aggregate_over
SELECT status, max(struct(sum(amount), status)) OVER () AS m FROM orders GROUP BY status

-- query: collect_list_of_aggregates_over
SELECT status, collect_list(sum(amount)) OVER (ORDER BY status) AS l FROM orders GROUP BY status

-- query: collect_set_of_key_over
SELECT status, collect_set(status) OVER () AS l, array_agg(count(*)) OVER () AS c FROM orders GROUP BY status

-- query: nested_field_of_key
SELECT address.city, rank() OVER (PARTITION BY address.geo.lat ORDER BY count(*)) AS r FROM customers GROUP BY address

-- query: window_over_literal_key
SELECT 'x' AS k, sum(count(*)) OVER (PARTITION BY 'x') AS n FROM orders GROUP BY 'x'

-- query: literal_in_over
SELECT status, sum(count(*)) OVER (PARTITION BY 1 ORDER BY 'a') AS n FROM orders GROUP BY status

-- query: position_in_over_is_literal
SELECT status, rank() OVER (ORDER BY 1) AS n FROM orders GROUP BY 1

-- query: lateral_alias_of_window
SELECT status, rank() OVER (ORDER BY count(*)) AS r, r + 1 AS r1 FROM orders GROUP BY status

-- query: qualified_key_in_over
SELECT o.status, sum(count(*)) OVER (PARTITION BY o.status) AS n FROM orders o GROUP BY status

-- query: qualified_key_in_group
SELECT status, sum(count(*)) OVER (PARTITION BY status) AS n FROM orders o GROUP BY o.status

-- query: key_of_join_in_over
SELECT c.country, o.status, rank() OVER (PARTITION BY c.country ORDER BY sum(o.amount) DESC) AS r FROM orders o JOIN customers c USING (customer_id) GROUP BY c.country, o.status

-- query: using_key_in_over
SELECT customer_id, row_number() OVER (ORDER BY customer_id) AS r FROM orders o FULL JOIN customers c USING (customer_id) GROUP BY customer_id

-- query: side_of_using_key_in_over
SELECT customer_id, row_number() OVER (ORDER BY o.customer_id) AS r FROM orders o LEFT JOIN customers c USING (customer_id) GROUP BY customer_id

-- query: subquery_in_over
SELECT status, rank() OVER (ORDER BY (SELECT max(week) FROM calendar)) AS r FROM orders GROUP BY status

-- query: window_of_count_in_subquery
SELECT (SELECT sum(count(*)) OVER () FROM calendar) AS r FROM orders

-- query: interval_sum_over
SELECT category, max(sum(lead_time)) OVER () AS m, sum(sum(lead_time)) OVER (ORDER BY category) AS s FROM products GROUP BY category

-- query: decimal_growth_over
SELECT status, sum(sum(amount)) OVER () AS a, avg(avg(amount)) OVER () AS b, sum(avg(amount)) OVER () AS c, avg(sum(amount)) OVER () AS d, max(sum(amount * quantity)) OVER () AS e FROM orders GROUP BY status

-- query: integer_growth_over
SELECT status, sum(count(*)) OVER () AS a, avg(count(*)) OVER () AS b, sum(max(quantity)) OVER () AS c, sum(avg(quantity)) OVER () AS d, max(min(priority)) OVER () AS e, sum(max(weight)) OVER () AS f FROM orders GROUP BY status

-- query: bool_aggregates_over
SELECT status, bool_and(bool_or(is_gift)) OVER () AS a, every(any(is_paid)) OVER () AS b, count_if(max(is_gift)) OVER () AS c FROM orders GROUP BY status

-- query: statistics_of_aggregates_over
SELECT status, stddev(sum(amount)) OVER () AS a, corr(sum(tax), count(*)) OVER () AS b, variance(count(*)) OVER () AS c FROM orders GROUP BY status

-- query: max_by_of_aggregates_over
SELECT status, max_by(status, sum(amount)) OVER () AS best, min_by(count(*), status) OVER (PARTITION BY length(status)) AS worst FROM orders GROUP BY status

-- query: star_over_aggregate_query
SELECT *, rank() OVER (ORDER BY n) AS r FROM (SELECT status, count(*) AS n FROM orders GROUP BY status)

-- query: exists_in_over
SELECT status, rank() OVER (ORDER BY EXISTS (SELECT 1 FROM calendar)) AS r FROM orders GROUP BY status

-- query: rand_in_over
SELECT status, row_number() OVER (ORDER BY rand()) AS r FROM orders GROUP BY status

-- query: uuid_in_over
SELECT order_id, row_number() OVER (PARTITION BY uuid() ORDER BY rand(3)) AS r FROM orders

-- query: explode_in_over
SELECT status, row_number() OVER (ORDER BY explode(array(1, 2))) AS r FROM orders GROUP BY status

-- query: aggregate_in_partition_of_plain_query
SELECT rank() OVER (PARTITION BY sum(amount) ORDER BY max(quantity)) AS r FROM orders

-- query: count_star_over_group
SELECT status, count(*) OVER () AS n FROM orders GROUP BY status

-- query: count_of_key_over_group
SELECT status, count(status) OVER () AS n, count(*) OVER (PARTITION BY status) AS m FROM orders GROUP BY status

-- query: count_one_over_group
SELECT count(1) OVER () AS n FROM orders GROUP BY status, is_gift

-- query: having_without_group_and_window
SELECT sum(count(*)) OVER () AS n FROM orders HAVING count(*) > 1

-- query: values_window
SELECT sum(max(x)) OVER (ORDER BY y) AS s FROM VALUES (1, 'a'), (2, 'b') AS t(x, y) GROUP BY y

-- query: union_of_windowed_groups
SELECT status AS k, rank() OVER (ORDER BY count(*)) AS r FROM orders GROUP BY status UNION ALL SELECT country, dense_rank() OVER (ORDER BY count(*)) FROM customers GROUP BY country

-- query: cte_of_windowed_groups
WITH m AS (SELECT date_trunc('month', ordered_at) AS mth, sum(amount) AS rev FROM orders GROUP BY 1) SELECT mth, rev, rev / lag(rev) OVER (ORDER BY mth) - 1 AS growth FROM m

-- query: windowed_groups_by_position
SELECT date_trunc('month', ordered_at) AS mth, sum(amount) AS rev, sum(amount) / lag(sum(amount)) OVER (ORDER BY date_trunc('month', ordered_at)) - 1 AS growth FROM orders GROUP BY 1 ORDER BY 1

-- query: pipe_aggregate_then_window
FROM orders |> AGGREGATE sum(amount) AS s GROUP BY status |> EXTEND rank() OVER (ORDER BY s) AS r |> WHERE r < 3

-- query: pipe_select_window_of_aggregate
FROM orders |> SELECT sum(sum(amount)) OVER () AS s

-- query: pipe_named_window
FROM orders |> SELECT status, rank() OVER w AS r WINDOW w AS (ORDER BY amount)

-- query: ignore_nulls_of_aggregate
SELECT order_date, last_value(max(note)) IGNORE NULLS OVER (ORDER BY order_date) AS l, lag(max(status), 1) IGNORE NULLS OVER (ORDER BY order_date) AS g FROM orders GROUP BY order_date

-- query: nth_value_of_aggregate
SELECT order_date, nth_value(sum(quantity), 2) OVER (ORDER BY order_date) AS l FROM orders GROUP BY order_date

-- query: window_function_as_aggregate_argument_over
SELECT status, max(lag(sum(amount)) OVER (ORDER BY status)) OVER () AS m FROM orders GROUP BY status

-- query: mixed_window_and_aggregate_arithmetic
SELECT status, count(*) * 100.0 / sum(count(*)) OVER () AS pct, max(amount) - first_value(max(amount)) OVER (ORDER BY status) AS d FROM orders GROUP BY status

-- query: coalesce_of_key_in_over
SELECT coalesce(status, 'none') AS s, rank() OVER (ORDER BY coalesce(status, 'none')) AS r FROM orders GROUP BY coalesce(status, 'none')

-- query: commuted_key_in_over
SELECT rank() OVER (ORDER BY quantity + order_id) AS r FROM orders GROUP BY order_id + quantity

-- query: cast_key_in_over
SELECT CAST(ordered_at AS DATE) AS d, rank() OVER (ORDER BY CAST(ordered_at AS DATE)) AS r FROM orders GROUP BY CAST(ordered_at AS DATE)

-- query: date_function_key_in_over
SELECT date(ordered_at) AS d, rank() OVER (ORDER BY CAST(ordered_at AS DATE)) AS r FROM orders GROUP BY date(ordered_at)

-- query: case_insensitive_key_in_over
SELECT STATUS, rank() OVER (ORDER BY Status) AS r FROM orders GROUP BY status

-- query: window_named_like_column
SELECT status, rank() OVER status AS r FROM orders WINDOW status AS (ORDER BY status)

-- query: unused_named_window_with_unknown_column
SELECT status FROM orders WINDOW w AS (ORDER BY nothing)

-- query: unused_named_window_with_ungrouped
SELECT status, count(*) FROM orders GROUP BY status WINDOW w AS (ORDER BY amount)

-- query: first_without_over_ignore
SELECT first_value(status) IGNORE NULLS AS f, any_value(status, true) AS a FROM orders

-- query: window_of_first_of_group
SELECT customer_id, first(first(status)) OVER (ORDER BY customer_id) AS f FROM orders GROUP BY customer_id

-- query: having_key_beside_window
SELECT status, rank() OVER (ORDER BY count(*)) AS r FROM orders GROUP BY status HAVING status = 'a'

-- query: having_key_not_selected_beside_window
SELECT rank() OVER (ORDER BY count(*)) AS r FROM orders GROUP BY status HAVING status = 'a'

-- query: having_alias_of_aggregate_beside_window
SELECT status, count(*) AS n, rank() OVER (ORDER BY count(*)) AS r FROM orders GROUP BY status HAVING n > 1

-- query: having_alias_of_key_beside_window
SELECT status AS s, rank() OVER (ORDER BY count(*)) AS r FROM orders GROUP BY status HAVING s = 'a'

-- query: having_expression_key_beside_window
SELECT upper(status) AS u, rank() OVER (ORDER BY count(*)) AS r FROM orders GROUP BY upper(status) HAVING upper(status) = 'A'

-- query: having_aggregate_of_alias_beside_window
SELECT status, count(*) AS n, rank() OVER (ORDER BY count(*)) AS r FROM orders GROUP BY status HAVING max(quantity) > n

-- query: order_by_alias_of_aggregate_beside_window
SELECT status, count(*) AS n, rank() OVER (ORDER BY count(*)) AS r FROM orders GROUP BY status ORDER BY n DESC, r

-- query: order_by_expression_of_key_beside_window
SELECT rank() OVER (ORDER BY count(*)) AS r FROM orders GROUP BY status ORDER BY upper(status)

-- query: order_by_qualified_key_beside_window
SELECT o.status, rank() OVER (ORDER BY count(*)) AS r FROM orders o GROUP BY o.status ORDER BY o.status

-- query: order_by_key_and_having_beside_window
SELECT rank() OVER (ORDER BY count(*)) AS r FROM orders GROUP BY status HAVING count(*) > 1 ORDER BY status

-- query: order_by_window_alias_and_aggregate
SELECT status, sum(amount) AS t, sum(sum(amount)) OVER () AS g FROM orders GROUP BY status ORDER BY t / g

-- query: distinct_window_then_order
SELECT DISTINCT status, rank() OVER (ORDER BY count(*)) AS r FROM orders GROUP BY status ORDER BY r

-- query: pipe_select_rank_by_aggregate
FROM orders |> SELECT rank() OVER (ORDER BY sum(amount)) AS r

-- query: pipe_select_window_of_aggregate_in_expression
FROM orders |> SELECT sum(sum(amount)) OVER () + 1 AS r

-- query: pipe_extend_window
FROM orders |> EXTEND sum(amount) OVER (PARTITION BY status) AS r |> SELECT order_id, r

-- query: pipe_set_window
FROM orders |> SET amount = max(amount) OVER () |> SELECT amount

-- query: pipe_aggregate_of_expression
FROM orders |> AGGREGATE sum(amount) + 1 AS s, count(*) GROUP BY upper(status) AS u
