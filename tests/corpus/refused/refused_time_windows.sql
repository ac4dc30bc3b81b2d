-- query: tumbling_start_of_another_length
SELECT window(ordered_at, '2 hours').start AS w, count(*) AS n FROM orders GROUP BY window(ordered_at, '1 hour')

-- query: slide_longer_than_window
SELECT window, sum(amount) AS s FROM orders GROUP BY window(ordered_at, '10 minutes', '15 minutes')

-- query: offset_longer_than_slide
SELECT window, sum(amount) AS s FROM orders GROUP BY window(ordered_at, '1 hour', '15 minutes', '20 minutes')

-- query: offset_negative_longer_than_slide
SELECT window, sum(amount) AS s FROM orders GROUP BY window(ordered_at, '1 hour', '15 minutes', '-20 minutes')

-- query: offset_equals_slide
SELECT window, sum(amount) AS s FROM orders GROUP BY window(ordered_at, '1 hour', '15 minutes', '15 minutes')

-- query: zero_length
SELECT window, sum(amount) AS s FROM orders GROUP BY window(ordered_at, '0 seconds')

-- query: negative_length
SELECT window, sum(amount) AS s FROM orders GROUP BY window(ordered_at, '-1 hour')

-- query: zero_slide
SELECT window, sum(amount) AS s FROM orders GROUP BY window(ordered_at, '1 hour', '0 minutes')

-- query: negative_slide
SELECT window, sum(amount) AS s FROM orders GROUP BY window(ordered_at, '1 hour', '-1 minutes')

-- query: month_length
SELECT window, sum(amount) AS s FROM orders GROUP BY window(ordered_at, '1 month')

-- query: year_length
SELECT window, sum(amount) AS s FROM orders GROUP BY window(ordered_at, '1 year')

-- query: length_nonsense
SELECT window, sum(amount) AS s FROM orders GROUP BY window(ordered_at, 'hourly')

-- query: length_without_unit
SELECT window, sum(amount) AS s FROM orders GROUP BY window(ordered_at, '10')

-- query: length_empty
SELECT window, sum(amount) AS s FROM orders GROUP BY window(ordered_at, '')

-- query: length_null
SELECT window, sum(amount) AS s FROM orders GROUP BY window(ordered_at, NULL)

-- query: length_interval_literal
SELECT window, sum(amount) AS s FROM orders GROUP BY window(ordered_at, INTERVAL 1 HOUR)

-- query: length_interval_string_literal
SELECT window, sum(amount) AS s FROM orders GROUP BY window(ordered_at, INTERVAL '1' HOUR)

-- query: length_interval_days
SELECT window, sum(amount) AS s FROM orders GROUP BY window(ordered_at, INTERVAL 7 DAYS, INTERVAL 1 DAY)

-- query: length_interval_months
SELECT window, sum(amount) AS s FROM orders GROUP BY window(ordered_at, INTERVAL 1 MONTH)

-- query: length_column
SELECT window, sum(amount) AS s FROM orders GROUP BY window(ordered_at, status)

-- query: length_expression
SELECT window, sum(amount) AS s FROM orders GROUP BY window(ordered_at, concat('1 ', 'hour'))

-- query: length_fractional_hour
SELECT window, sum(amount) AS s FROM orders GROUP BY window(ordered_at, '1.5 hours')

-- query: length_abbreviated
SELECT window, sum(amount) AS s FROM orders GROUP BY window(ordered_at, '1h')

-- query: time_int
SELECT window, count(*) AS n FROM orders GROUP BY window(quantity, '1 day')

-- query: time_boolean
SELECT window, count(*) AS n FROM orders GROUP BY window(is_gift, '1 day')

-- query: time_unknown
SELECT window, count(*) AS n FROM orders GROUP BY window(nothing, '1 day')

-- query: time_struct
SELECT window, count(*) AS n FROM customers GROUP BY window(address, '1 day')

-- query: no_arguments
SELECT window, count(*) AS n FROM orders GROUP BY window()

-- query: one_argument
SELECT window, count(*) AS n FROM orders GROUP BY window(ordered_at)

-- query: five_arguments
SELECT window, count(*) AS n FROM orders GROUP BY window(ordered_at, '1 hour', '1 hour', '0 minutes', '1')

-- query: window_in_order_by_call
SELECT window, count(*) AS n FROM orders GROUP BY window(ordered_at, '1 hour') ORDER BY window(ordered_at, '1 hour')

-- query: window_star
SELECT window.*, count(*) AS n FROM orders GROUP BY window(ordered_at, '1 hour')

-- query: window_named_column
SELECT *, count(*) AS n FROM orders GROUP BY window(ordered_at, '1 hour')

-- query: window_key_qualified
SELECT orders.window, count(*) AS n FROM orders GROUP BY window(ordered_at, '1 hour')

-- query: two_windows_of_lengths
SELECT count(*) AS n FROM orders GROUP BY window(ordered_at, '1 hour'), window(ordered_at, '2 hours')

-- query: two_windows_of_columns
SELECT count(*) AS n FROM orders GROUP BY window(ordered_at, '1 hour'), window(shipped_at, '1 hour')

-- query: two_windows_select
SELECT window(ordered_at, '1 hour') AS a, window(ordered_at, '2 hours') AS b FROM orders

-- query: window_and_session
SELECT count(*) AS n FROM orders GROUP BY window(ordered_at, '1 hour'), session_window(ordered_at, '1 hour')

-- query: two_sessions
SELECT count(*) AS n FROM orders GROUP BY session_window(shipped_at, '1 hour'), session_window(ordered_at, '1 hour')

-- query: window_in_select_with_aggregate
SELECT window(ordered_at, '1 hour') AS w, count(*) AS n FROM orders

-- query: window_in_join
SELECT o.order_id FROM orders o JOIN events e ON window(o.ordered_at, '1 hour') = window(e.received, '1 hour')

-- query: window_of_window
SELECT window, count(*) AS n FROM (SELECT window, sum(amount) AS s FROM orders GROUP BY window(ordered_at, '1 hour')) GROUP BY window(window, '1 day')

-- query: window_of_struct
SELECT count(*) AS n FROM (SELECT struct(ordered_at AS start, ordered_at AS end) AS w FROM orders) GROUP BY window(w, '1 day')

-- query: window_of_struct_other_fields
SELECT count(*) AS n FROM (SELECT struct(ordered_at AS a, ordered_at AS b) AS w FROM orders) GROUP BY window(w, '1 day')

-- query: window_time_of_window
SELECT window, window_time(window) AS t, count(*) AS n FROM orders GROUP BY window(ordered_at, '1 hour')

-- query: window_time_of_grouped_call
SELECT window_time(window(ordered_at, '1 hour')) AS t, count(*) AS n FROM orders GROUP BY window(ordered_at, '1 hour')

-- query: window_time_of_ntz
SELECT window_time(window) AS t, count(*) AS n FROM events GROUP BY window(at, '1 hour')

-- query: window_time_of_timestamp
SELECT window_time(ordered_at) AS t FROM orders

-- query: window_time_of_string
SELECT window_time(status) AS t FROM orders

-- query: window_time_of_struct
SELECT window_time(address) AS t FROM customers

-- query: window_time_of_made_struct
SELECT window_time(struct(ordered_at AS start, ordered_at AS end)) AS t FROM orders

-- query: window_time_of_made_struct_column
SELECT window_time(w) AS t FROM (SELECT struct(ordered_at AS start, ordered_at AS end) AS w FROM orders)

-- query: window_time_without_arguments
SELECT window_time() AS t FROM orders

-- query: window_time_two_arguments
SELECT window_time(window, 1) AS t FROM orders GROUP BY window(ordered_at, '1 hour')

-- query: window_time_of_session
SELECT window_time(session_window) AS t, count(*) AS n FROM orders GROUP BY session_window(ordered_at, '1 hour')

-- query: session_interval_gap
SELECT session_window, count(*) AS n FROM orders GROUP BY session_window(ordered_at, INTERVAL 5 MINUTES)

-- query: session_int_gap
SELECT session_window, count(*) AS n FROM orders GROUP BY session_window(ordered_at, 5)

-- query: session_int_column_gap
SELECT session_window, count(*) AS n FROM orders GROUP BY session_window(ordered_at, quantity)

-- query: session_interval_column_gap
SELECT session_window, count(*) AS n FROM events GROUP BY session_window(received, session_length)

-- query: session_three_arguments
SELECT session_window, count(*) AS n FROM orders GROUP BY session_window(ordered_at, '5 minutes', '1 minute')

-- query: session_one_argument
SELECT session_window, count(*) AS n FROM orders GROUP BY session_window(ordered_at)

-- query: session_int_time
SELECT session_window, count(*) AS n FROM orders GROUP BY session_window(quantity, '5 minutes')

-- query: window_column_shadows
SELECT window, count(*) AS n FROM (SELECT 1 AS window, ordered_at FROM orders) GROUP BY window(ordered_at, '1 hour')

-- query: window_unknown_field
SELECT window.middle AS m, count(*) AS n FROM orders GROUP BY window(ordered_at, '1 hour')

-- query: window_without_window_key
SELECT window, count(*) AS n FROM orders GROUP BY ordered_at

-- query: window_over_clause
SELECT window(ordered_at, '1 hour') OVER (ORDER BY order_id) AS w FROM orders

-- query: window_distinct_call
SELECT window(DISTINCT ordered_at, '1 hour') AS w FROM orders

-- query: window_ungrouped_time
SELECT ordered_at, window, count(*) AS n FROM orders GROUP BY window(ordered_at, '1 hour')

-- query: window_named_arguments
SELECT window(timeColumn => ordered_at, windowDuration => '1 hour') AS w FROM orders

-- query: window_of_aggregate
SELECT window(max(ordered_at), '1 hour') AS w FROM orders

-- query: window_of_aggregate_grouped
SELECT status, window(max(ordered_at), '1 hour') AS w FROM orders GROUP BY status

-- query: window_lateral_alias_time
SELECT ordered_at AS t, window(t, '1 hour') AS w FROM orders

-- query: count_zero_length
SELECT count(*) AS n FROM orders GROUP BY window(ordered_at, '0 seconds')

-- query: count_negative_length
SELECT count(*) AS n FROM orders GROUP BY window(ordered_at, '-1 hour')

-- query: count_zero_slide
SELECT count(*) AS n FROM orders GROUP BY window(ordered_at, '1 hour', '0 minutes')

-- query: count_negative_slide
SELECT count(*) AS n FROM orders GROUP BY window(ordered_at, '1 hour', '-1 minutes')

-- query: count_slide_longer
SELECT count(*) AS n FROM orders GROUP BY window(ordered_at, '10 minutes', '15 minutes')

-- query: count_offset_longer
SELECT count(*) AS n FROM orders GROUP BY window(ordered_at, '1 hour', '15 minutes', '20 minutes')

-- query: count_offset_equal
SELECT count(*) AS n FROM orders GROUP BY window(ordered_at, '1 hour', '15 minutes', '15 minutes')

-- query: count_time_int
SELECT count(*) AS n FROM orders GROUP BY window(quantity, '1 day')

-- query: count_time_boolean
SELECT count(*) AS n FROM orders GROUP BY window(is_gift, '1 day')

-- query: count_time_struct
SELECT count(*) AS n FROM customers GROUP BY window(address, '1 day')

-- query: count_time_unknown
SELECT count(*) AS n FROM orders GROUP BY window(nothing, '1 day')

-- query: count_session_int_time
SELECT count(*) AS n FROM orders GROUP BY session_window(quantity, '5 minutes')

-- query: select_zero_length
SELECT window(ordered_at, '0 seconds') AS w FROM orders

-- query: select_slide_longer
SELECT window(ordered_at, '10 minutes', '15 minutes') AS w FROM orders

-- query: select_time_int
SELECT window(quantity, '1 day') AS w FROM orders

-- query: two_windows_group_and_having
SELECT count(*) AS n FROM calendar GROUP BY window(day, '1 hour') HAVING max(window(day, '2 hours').start) > TIMESTAMP '2020-01-01'

-- query: having_same_call
SELECT count(*) AS n FROM orders GROUP BY window(ordered_at, '1 hour') HAVING window(ordered_at, '1 hour').start > TIMESTAMP '2020-01-01'

-- query: order_by_field_of_call
SELECT count(*) AS n FROM orders GROUP BY window(ordered_at, '1 hour') ORDER BY window(ordered_at, '1 hour').start

-- query: int_negative_length
SELECT window, count(*) AS n FROM orders GROUP BY window(ordered_at, -5)

-- query: aggregate_and_group_of_two
SELECT max(window(ordered_at, '2 hours').end) AS m FROM orders GROUP BY window(ordered_at, '1 hour')

-- query: name_beside_field_key
SELECT window, count(*) AS n FROM orders GROUP BY window(ordered_at, '1 hour').start

-- query: end_beside_start_key
SELECT window.end AS e, count(*) AS n FROM orders GROUP BY window(ordered_at, '1 hour').start

-- query: window_time_in_having
SELECT window, count(*) AS n FROM orders GROUP BY window(ordered_at, '1 hour') HAVING window_time(window) > TIMESTAMP '2020-01-01'

-- query: window_time_of_key
SELECT w, window_time(w) AS t, count(*) AS n FROM (SELECT window(ordered_at, '1 hour') AS w FROM orders) GROUP BY w

-- query: window_time_of_nullable_struct
SELECT window_time(w) AS t FROM (SELECT struct(shipped_at AS start, shipped_at AS end) AS w FROM orders)

-- query: window_time_of_coalesce
SELECT window_time(coalesce(w, w)) AS t FROM (SELECT window(ordered_at, '1 hour') AS w FROM orders)

-- query: window_time_of_first
SELECT window_time(w) AS t FROM (SELECT first(window(ordered_at, '1 hour')) AS w FROM orders)

-- query: window_time_of_interval_column
SELECT window_time(lead_time) AS t FROM products

-- query: session_date_gap
SELECT session_window, count(*) AS n FROM orders GROUP BY session_window(ordered_at, order_date)

-- query: session_boolean_gap
SELECT session_window, count(*) AS n FROM orders GROUP BY session_window(ordered_at, is_gift)

-- query: session_of_two_gaps
SELECT session_window(ordered_at, '5 minutes') AS a, session_window(ordered_at, '6 minutes') AS b, count(*) AS n FROM orders GROUP BY 1, 2

-- query: window_in_values_list
SELECT * FROM VALUES (window(TIMESTAMP '2020-01-01', '1 hour')) AS t(w)
