-- query: tumbling
SELECT window, count(*) AS n FROM orders GROUP BY window(ordered_at, '1 hour')

-- query: tumbling_fields
SELECT window.start AS s, window.end AS e, count(*) AS n FROM orders GROUP BY window(ordered_at, '1 hour')

-- query: tumbling_repeated
SELECT window(ordered_at, '1 hour') AS w, count(*) AS n FROM orders GROUP BY window(ordered_at, '1 hour')

-- query: tumbling_repeated_field
SELECT window(ordered_at, '1 hour').start AS w, count(*) AS n FROM orders GROUP BY window(ordered_at, '1 hour')

-- query: tumbling_alias
SELECT window(ordered_at, '10 minutes') AS w, count(*) AS n FROM orders GROUP BY w

-- query: tumbling_alias_field
SELECT window(ordered_at, '10 minutes') AS w, w.start AS s, count(*) AS n FROM orders GROUP BY w

-- query: tumbling_position
SELECT window(ordered_at, '10 minutes') AS w, count(*) AS n FROM orders GROUP BY 1

-- query: tumbling_all
SELECT window(ordered_at, '10 minutes') AS w, count(*) AS n FROM orders GROUP BY ALL

-- query: tumbling_start_all
SELECT window(ordered_at, '10 minutes').start AS w, count(*) AS n FROM orders GROUP BY ALL

-- query: sliding
SELECT window, sum(amount) AS s FROM orders GROUP BY window(ordered_at, '1 hour', '15 minutes')

-- query: sliding_offset
SELECT window, sum(amount) AS s FROM orders GROUP BY window(ordered_at, '1 hour', '15 minutes', '5 minutes')

-- query: sliding_negative_offset
SELECT window, sum(amount) AS s FROM orders GROUP BY window(ordered_at, '1 hour', '15 minutes', '-5 minutes')

-- query: week_length
SELECT window, sum(amount) AS s FROM orders GROUP BY window(ordered_at, '1 week')

-- query: day_length
SELECT window, sum(amount) AS s FROM orders GROUP BY window(ordered_at, '1 day')

-- query: compound_length
SELECT window, sum(amount) AS s FROM orders GROUP BY window(ordered_at, '1 day 2 hours')

-- query: microsecond_length
SELECT window, sum(amount) AS s FROM orders GROUP BY window(ordered_at, '5 microseconds')

-- query: length_with_keyword
SELECT window, sum(amount) AS s FROM orders GROUP BY window(ordered_at, 'interval 1 hour')

-- query: length_number
SELECT window, sum(amount) AS s FROM orders GROUP BY window(ordered_at, 10)

-- query: length_bigint
SELECT window, sum(amount) AS s FROM orders GROUP BY window(ordered_at, 3600000000L)

-- query: length_fractional
SELECT window, sum(amount) AS s FROM orders GROUP BY window(ordered_at, '1.5 seconds')

-- query: length_upper_case
SELECT window, sum(amount) AS s FROM orders GROUP BY window(ordered_at, '1 HOUR')

-- query: time_string
SELECT window, count(*) AS n FROM orders GROUP BY window(note, '1 hour')

-- query: time_date
SELECT window, count(*) AS n FROM orders GROUP BY window(order_date, '1 day')

-- query: time_ntz
SELECT window, count(*) AS n FROM events GROUP BY window(at, '1 day')

-- query: time_nullable
SELECT window, count(*) AS n FROM orders GROUP BY window(shipped_at, '1 day')

-- query: time_null
SELECT window, count(*) AS n FROM orders GROUP BY window(NULL, '1 day')

-- query: time_literal
SELECT window, count(*) AS n FROM orders GROUP BY window(TIMESTAMP '2020-01-01', '1 day')

-- query: time_expression
SELECT window, count(*) AS n FROM orders GROUP BY window(coalesce(shipped_at, ordered_at), '1 day')

-- query: time_cast
SELECT window, count(*) AS n FROM orders GROUP BY window(CAST(order_date AS TIMESTAMP), '1 day')

-- query: time_current
SELECT window, count(*) AS n FROM orders GROUP BY window(current_timestamp(), '1 day')

-- query: with_key
SELECT status, window, count(*) AS n FROM orders GROUP BY status, window(ordered_at, '1 hour')

-- query: with_key_first
SELECT status, window.end AS e, count(*) AS n FROM orders GROUP BY window(ordered_at, '1 hour'), status

-- query: window_not_selected
SELECT count(*) AS n FROM orders GROUP BY window(ordered_at, '1 hour')

-- query: window_in_having
SELECT window, count(*) AS n FROM orders GROUP BY window(ordered_at, '1 hour') HAVING window.start > TIMESTAMP '2020-01-01'

-- query: window_in_order_by
SELECT window, count(*) AS n FROM orders GROUP BY window(ordered_at, '1 hour') ORDER BY window.start

-- query: window_in_order_by_not_selected
SELECT count(*) AS n FROM orders GROUP BY window(ordered_at, '1 hour') ORDER BY window.start

-- query: window_in_over
SELECT window, sum(count(*)) OVER (ORDER BY window.start) AS n FROM orders GROUP BY window(ordered_at, '1 hour')

-- query: window_expression_key
SELECT window(ordered_at, '1 hour').start AS s, count(*) AS n FROM orders GROUP BY window(ordered_at, '1 hour').start

-- query: window_expression_key_and_window
SELECT window.start AS s, count(*) AS n FROM orders GROUP BY window(ordered_at, '1 hour').start

-- query: two_same_windows
SELECT window, count(*) AS n FROM orders GROUP BY window(ordered_at, '1 hour'), window(ordered_at, '1 hour')

-- query: two_same_windows_select
SELECT window(ordered_at, '1 hour') AS a, window(ordered_at, '1 hour') AS b FROM orders

-- query: two_same_sessions
SELECT session_window, count(*) AS n FROM orders GROUP BY session_window(ordered_at, '1 hour'), session_window(ordered_at, '1 hour')

-- query: window_in_select_without_group
SELECT window(ordered_at, '1 hour') AS w FROM orders

-- query: window_in_select_fields
SELECT order_id, window(ordered_at, '1 hour').start AS s, window(ordered_at, '1 hour').end AS e FROM orders

-- query: window_in_where
SELECT order_id FROM orders WHERE window(ordered_at, '1 hour').start > TIMESTAMP '2020-01-01'

-- query: window_sliding_in_select
SELECT order_id, window(ordered_at, '1 hour', '10 minutes') AS w FROM orders

-- query: window_in_partition
SELECT order_id, row_number() OVER (PARTITION BY window(ordered_at, '1 hour') ORDER BY amount) AS r FROM orders

-- query: window_in_aggregate
SELECT max(window(ordered_at, '1 hour')) AS m, count(DISTINCT window(ordered_at, '1 hour').start) AS n FROM orders

-- query: window_in_order_by_without_group
SELECT order_id FROM orders ORDER BY window(ordered_at, '1 hour')

-- query: window_in_case
SELECT CASE WHEN is_gift THEN window(ordered_at, '1 hour').start END AS w FROM orders

-- query: window_in_subquery
SELECT w.start AS s, count(*) AS n FROM (SELECT window(ordered_at, '1 hour') AS w FROM orders) GROUP BY w.start

-- query: window_in_cte
WITH h AS (SELECT window(ordered_at, '1 hour') AS w, amount FROM orders) SELECT w, sum(amount) AS s FROM h GROUP BY w

-- query: window_of_window_alias
SELECT window(h.w, '1 day') AS d, sum(s) AS t FROM (SELECT window(ordered_at, '1 hour') AS w, sum(amount) AS s FROM orders GROUP BY 1) h GROUP BY 1

-- query: window_of_window_time
SELECT window(window_time(h.w), '1 day') AS d, sum(s) AS t FROM (SELECT window(ordered_at, '1 hour') AS w, sum(amount) AS s FROM orders GROUP BY 1) h GROUP BY 1

-- query: window_of_window_start
SELECT window(h.w.start, '1 day') AS d, sum(s) AS t FROM (SELECT window(ordered_at, '1 hour') AS w, sum(amount) AS s FROM orders GROUP BY 1) h GROUP BY 1

-- query: window_of_window_directly
SELECT count(*) AS n FROM orders GROUP BY window(window(ordered_at, '1 hour'), '1 day')

-- query: window_of_window_directly_start
SELECT count(*) AS n FROM orders GROUP BY window(window(ordered_at, '1 hour').start, '1 day')

-- query: window_time_of_call
SELECT window_time(window(ordered_at, '1 hour')) AS t FROM orders

-- query: window_time_grouped
SELECT window_time(window) AS t, count(*) AS n FROM orders GROUP BY window_time(window(ordered_at, '1 hour'))

-- query: window_time_of_subquery_column
SELECT window_time(w) AS t FROM (SELECT window(ordered_at, '1 hour') AS w FROM orders)

-- query: window_time_of_cte_window
WITH h AS (SELECT window, count(*) AS n FROM orders GROUP BY window(ordered_at, '1 hour')) SELECT window_time(window) AS t, n FROM h

-- query: window_time_twice
SELECT window_time(a) AS x, window_time(b) AS y FROM (SELECT window AS a, window AS b FROM orders GROUP BY window(ordered_at, '1 hour'))

-- query: window_time_of_two_columns
SELECT window_time(h.w) AS x, window_time(d.w) AS y FROM (SELECT window(ordered_at, '1 hour') AS w FROM orders) h, (SELECT window(ordered_at, '1 day') AS w FROM orders) d

-- query: window_time_in_where
SELECT n FROM (SELECT window, count(*) AS n FROM orders GROUP BY window(ordered_at, '1 hour')) WHERE window_time(window) > TIMESTAMP '2020-01-01'

-- query: session
SELECT session_window, count(*) AS n FROM orders GROUP BY session_window(ordered_at, '5 minutes')

-- query: session_fields
SELECT session_window.start AS s, session_window.end AS e, customer_id, count(*) AS n FROM orders GROUP BY session_window(ordered_at, '5 minutes'), customer_id

-- query: session_repeated
SELECT session_window(ordered_at, '5 minutes') AS w, count(*) AS n FROM orders GROUP BY session_window(ordered_at, '5 minutes')

-- query: session_alias
SELECT session_window(ordered_at, '5 minutes') AS w, count(*) AS n FROM orders GROUP BY w

-- query: session_dynamic_gap
SELECT session_window, count(*) AS n FROM orders GROUP BY session_window(ordered_at, CASE WHEN status = 'a' THEN '5 minutes' ELSE '10 minutes' END)

-- query: session_column_gap
SELECT session_window, count(*) AS n FROM orders GROUP BY session_window(ordered_at, note)

-- query: session_null_gap
SELECT session_window, count(*) AS n FROM orders GROUP BY session_window(ordered_at, NULL)

-- query: session_negative_gap
SELECT session_window, count(*) AS n FROM orders GROUP BY session_window(ordered_at, '-5 minutes')

-- query: session_zero_gap
SELECT session_window, count(*) AS n FROM orders GROUP BY session_window(ordered_at, '0 minutes')

-- query: session_month_gap
SELECT session_window, count(*) AS n FROM orders GROUP BY session_window(ordered_at, '1 month')

-- query: session_nonsense_gap
SELECT session_window, count(*) AS n FROM orders GROUP BY session_window(ordered_at, 'five')

-- query: session_string_time
SELECT session_window, count(*) AS n FROM orders GROUP BY session_window(note, '5 minutes')

-- query: session_date_time
SELECT session_window, count(*) AS n FROM orders GROUP BY session_window(order_date, '5 minutes')

-- query: session_ntz_time
SELECT session_window, count(*) AS n FROM events GROUP BY session_window(at, '5 minutes')

-- query: session_window_time
SELECT session_window, count(*) AS n FROM (SELECT window, count(*) AS c FROM orders GROUP BY window(ordered_at, '1 hour')) GROUP BY session_window(window, '5 minutes')

-- query: session_without_group
SELECT session_window(ordered_at, '5 minutes') AS w FROM orders

-- query: session_in_where
SELECT order_id FROM orders WHERE session_window(ordered_at, '5 minutes').start IS NULL

-- query: session_over
SELECT session_window, sum(count(*)) OVER (PARTITION BY date(session_window.start)) AS n FROM orders GROUP BY session_window(ordered_at, '5 minutes')

-- query: session_distinct
SELECT session_window, count(DISTINCT status) AS n FROM orders GROUP BY session_window(ordered_at, '5 minutes')

-- query: session_all
SELECT session_window(ordered_at, '5 minutes') AS w, status, count(*) AS n FROM orders GROUP BY ALL

-- query: session_rollup
SELECT session_window, status, count(*) AS n FROM orders GROUP BY ROLLUP (session_window(ordered_at, '5 minutes'), status)

-- query: window_rollup
SELECT window, status, count(*) AS n FROM orders GROUP BY ROLLUP (window(ordered_at, '1 hour'), status)

-- query: window_cube
SELECT window.start AS s, status, grouping(status) AS g, count(*) AS n FROM orders GROUP BY CUBE (window(ordered_at, '1 hour'), status)

-- query: window_grouping_sets
SELECT status, count(*) AS n FROM orders GROUP BY GROUPING SETS ((window(ordered_at, '1 hour'), status), (status), ())

-- query: window_with_grouping_sets
SELECT window, status, is_gift, count(*) AS n FROM orders GROUP BY window(ordered_at, '1 hour'), GROUPING SETS ((status), (is_gift))

-- query: window_distinct
SELECT DISTINCT window(ordered_at, '1 hour') AS w FROM orders

-- query: window_union
SELECT window, count(*) AS n FROM orders GROUP BY window(ordered_at, '1 hour') UNION ALL SELECT window, count(*) FROM events GROUP BY window(received, '1 hour')

-- query: window_pivot
SELECT * FROM (SELECT window(ordered_at, '1 hour') AS w, status, amount FROM orders) PIVOT (sum(amount) FOR status IN ('a', 'b'))

-- query: window_in_lateral
SELECT o.order_id, t.w FROM orders o, LATERAL (SELECT window(o.ordered_at, '1 hour') AS w) t

-- query: window_pipe
FROM orders |> AGGREGATE count(*) AS n GROUP BY window(ordered_at, '1 hour')

-- query: window_pipe_alias
FROM orders |> AGGREGATE count(*) AS n GROUP BY window(ordered_at, '1 hour') AS w |> SELECT w.start AS s, n

-- query: window_pipe_extend
FROM orders |> EXTEND window(ordered_at, '1 hour') AS w |> SELECT order_id, w

-- query: window_column_itself
SELECT window, count(*) AS n FROM (SELECT 1 AS window FROM orders) GROUP BY window

-- query: window_call_and_alias_of_same_name
SELECT window(ordered_at, '1 hour') AS window, count(*) AS n FROM orders GROUP BY window

-- query: window_in_values
SELECT window.start AS s, avg(v) AS a FROM VALUES (TIMESTAMP '2020-01-01', 1), (TIMESTAMP '2020-01-02', 2) AS t(ts, v) GROUP BY window(ts, '1 day')

-- query: window_of_string_values
SELECT window, count(*) AS n FROM VALUES ('2020-01-01 00:00:00'), ('2020-01-02') AS t(ts) GROUP BY window(ts, '1 day')

-- query: window_order_by_alias
SELECT window(ordered_at, '1 hour') AS w, count(*) AS n FROM orders GROUP BY w ORDER BY w.start DESC

-- query: date_trunc_group
SELECT date_trunc('hour', ordered_at) AS h, count(*) AS n FROM orders GROUP BY h ORDER BY h

-- query: select_and_name
SELECT window(ordered_at, '1 hour') AS w, window.start AS s FROM orders

-- query: select_name_only_of_where
SELECT window FROM orders WHERE window(ordered_at, '1 hour').start > TIMESTAMP '2020-01-01'

-- query: star_of_where
SELECT * FROM calendar WHERE window(day, '1 hour').start > TIMESTAMP '2020-01-01'

-- query: star_and_select
SELECT *, window(day, '1 hour') AS w FROM calendar

-- query: two_windows_where_and_select
SELECT window(day, '1 hour') AS w FROM calendar WHERE window(day, '2 hours').start > TIMESTAMP '2020-01-01'

-- query: same_window_spelt_otherwise
SELECT window(ordered_at, '60 minutes') AS w, count(*) AS n FROM orders GROUP BY window(ordered_at, '1 hour')

-- query: same_window_with_slide
SELECT window(ordered_at, '1 hour') AS w, count(*) AS n FROM orders GROUP BY window(ordered_at, '1 hour', '1 hour')

-- query: same_window_upper_case
SELECT window(ordered_at, '1 HOUR') AS w, count(*) AS n FROM orders GROUP BY window(ordered_at, '1 hour')

-- query: same_window_qualified
SELECT window(o.ordered_at, '1 hour') AS w, count(*) AS n FROM orders o GROUP BY window(ordered_at, '1 hour')

-- query: lengths_that_are_equal_slide
SELECT window, count(*) AS n FROM orders GROUP BY window(ordered_at, '1 hour', '60 minutes')

-- query: bigint_literal_length
SELECT window, count(*) AS n FROM orders GROUP BY window(ordered_at, 3600000000)

-- query: start_of_aggregate
SELECT max(window(ordered_at, '1 hour').end) AS m FROM orders

-- query: aggregate_and_group_of_same
SELECT max(window(ordered_at, '1 hour').end) AS m FROM orders GROUP BY window(ordered_at, '1 hour')

-- query: aggregate_of_name
SELECT max(window.end) AS m, count(*) AS n FROM orders GROUP BY window(ordered_at, '1 hour')

-- query: aggregate_of_name_of_field_key
SELECT max(window.end) AS m, count(*) AS n FROM orders GROUP BY window(ordered_at, '1 hour').start

-- query: expression_of_start_key
SELECT date(window.start) AS d, count(*) AS n FROM orders GROUP BY date(window(ordered_at, '1 hour').start)

-- query: expression_of_start_key_repeated
SELECT date(window(ordered_at, '1 hour').start) AS d, count(*) AS n FROM orders GROUP BY date(window(ordered_at, '1 hour').start)

-- query: expression_of_window_key
SELECT date(window.start) AS d, count(*) AS n FROM orders GROUP BY window(ordered_at, '1 hour')

-- query: window_time_in_order
SELECT window, count(*) AS n FROM orders GROUP BY window(ordered_at, '1 hour') ORDER BY window_time(window)

-- query: window_time_key_of_subquery
SELECT window_time(w) AS t, count(*) AS n FROM (SELECT window(ordered_at, '1 hour') AS w FROM orders) GROUP BY window_time(w)

-- query: window_time_key_alias
SELECT window_time(w) AS t, count(*) AS n FROM (SELECT window(ordered_at, '1 hour') AS w FROM orders) GROUP BY t

-- query: window_time_key_position
SELECT window_time(w) AS t, count(*) AS n FROM (SELECT window(ordered_at, '1 hour') AS w FROM orders) GROUP BY 1

-- query: window_time_in_aggregate
SELECT max(window_time(w)) AS t FROM (SELECT window(ordered_at, '1 hour') AS w FROM orders)

-- query: window_time_over
SELECT row_number() OVER (ORDER BY window_time(w)) AS t FROM (SELECT window(ordered_at, '1 hour') AS w FROM orders)

-- query: window_time_of_renamed
SELECT window_time(v) AS t FROM (SELECT w AS v FROM (SELECT window(ordered_at, '1 hour') AS w FROM orders))

-- query: window_time_of_join
SELECT window_time(a.w) AS t FROM (SELECT window(ordered_at, '1 hour') AS w FROM orders) a JOIN calendar ON true

-- query: window_time_of_union
SELECT window_time(w) AS t FROM (SELECT window(ordered_at, '1 hour') AS w FROM orders UNION ALL SELECT window(received, '1 hour') FROM events)

-- query: session_calendar_gap
SELECT session_window, count(*) AS n FROM orders GROUP BY session_window(ordered_at, make_interval(0, 0, 0, 0, 0, 5))

-- query: session_expression_gap
SELECT session_window, count(*) AS n FROM orders GROUP BY session_window(ordered_at, concat(quantity, ' minutes'))

-- query: session_in_aggregate
SELECT max(session_window(ordered_at, '5 minutes').end) AS m FROM orders

-- query: session_in_over
SELECT row_number() OVER (PARTITION BY session_window(ordered_at, '5 minutes') ORDER BY order_id) AS r FROM orders

-- query: session_field_key
SELECT session_window.start AS s, count(*) AS n FROM orders GROUP BY session_window(ordered_at, '5 minutes').start

-- query: session_window_time_in_select
SELECT session_window, window_time(session_window) AS t FROM (SELECT session_window, count(*) AS n FROM orders GROUP BY session_window(ordered_at, '1 hour'))

-- query: session_cube
SELECT session_window.start AS s, status, count(*) AS n FROM orders GROUP BY CUBE (session_window(ordered_at, '5 minutes'), status)

-- query: window_in_grouping
SELECT window, grouping(window) AS g, count(*) AS n FROM orders GROUP BY ROLLUP (window(ordered_at, '1 hour'))

-- query: window_call_in_grouping
SELECT window, grouping(window(ordered_at, '1 hour')) AS g, count(*) AS n FROM orders GROUP BY ROLLUP (window(ordered_at, '1 hour'))

-- query: window_hive_sets
SELECT window, status, count(*) AS n FROM orders GROUP BY window(ordered_at, '1 hour'), status GROUPING SETS ((window(ordered_at, '1 hour')), (status))

-- query: window_in_filter
SELECT count(*) FILTER (WHERE window(ordered_at, '1 hour').start > TIMESTAMP '2020-01-01') AS n FROM orders

-- query: window_in_exists
SELECT order_id FROM orders o WHERE EXISTS (SELECT 1 FROM events e WHERE window(e.received, '1 hour').start = o.ordered_at)

-- query: window_in_in
SELECT order_id FROM orders WHERE window(ordered_at, '1 hour') IN (SELECT window(received, '1 hour') FROM events)

-- query: window_of_outer_column
SELECT (SELECT max(window(o.ordered_at, '1 hour').start) FROM events) AS w FROM orders o

-- query: window_without_from
SELECT window(TIMESTAMP '2020-01-01', '1 hour') AS w

-- query: window_ntz_in_select
SELECT window(at, '1 hour', '30 minutes') AS w FROM events

-- query: window_string_in_select
SELECT window(note, '1 hour').start AS w FROM orders

-- query: window_of_explode
SELECT window(t, '1 hour') AS w FROM (SELECT explode(array(ordered_at, shipped_at)) AS t FROM orders)

-- query: window_alias_in_order
SELECT window(ordered_at, '1 hour') AS w FROM orders ORDER BY w

-- query: window_alias_in_over
SELECT status, window(ordered_at, '1 hour') AS w, count(*) AS n, rank() OVER (PARTITION BY window(ordered_at, '1 hour') ORDER BY count(*)) AS r FROM orders GROUP BY status, window(ordered_at, '1 hour')

-- query: window_name_in_over
SELECT status, window, rank() OVER (PARTITION BY window ORDER BY count(*)) AS r FROM orders GROUP BY status, window(ordered_at, '1 hour')

-- query: window_group_by_pair
SELECT count(*) AS n FROM orders GROUP BY (window(ordered_at, '1 hour'), status)

-- query: window_name_with_join
SELECT window, count(*) AS n FROM orders o JOIN customers c USING (customer_id) GROUP BY window(o.ordered_at, '1 hour')

-- query: window_with_having_alias
SELECT window.start AS s, count(*) AS n FROM orders GROUP BY window(ordered_at, '1 hour') HAVING s > TIMESTAMP '2020-01-01'

-- query: window_distinct_aggregate
SELECT window, count(DISTINCT status) AS n, percentile_cont(0.5) WITHIN GROUP (ORDER BY amount) AS p FROM orders GROUP BY window(ordered_at, '1 hour')
