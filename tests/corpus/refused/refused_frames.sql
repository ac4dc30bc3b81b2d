-- query: rows_preceding_reversed
SELECT sum(quantity) OVER (ORDER BY order_id ROWS BETWEEN 1 PRECEDING AND 3 PRECEDING) AS a FROM orders

-- query: rows_following_reversed
SELECT sum(quantity) OVER (ORDER BY order_id ROWS BETWEEN 3 FOLLOWING AND 1 FOLLOWING) AS a FROM orders

-- query: rows_from_unbounded_following
SELECT sum(quantity) OVER (ORDER BY order_id ROWS BETWEEN UNBOUNDED FOLLOWING AND CURRENT ROW) AS a FROM orders

-- query: rows_to_unbounded_preceding
SELECT sum(quantity) OVER (ORDER BY order_id ROWS BETWEEN CURRENT ROW AND UNBOUNDED PRECEDING) AS a FROM orders

-- query: rows_only_unbounded_following
SELECT sum(quantity) OVER (ORDER BY order_id ROWS UNBOUNDED FOLLOWING) AS a FROM orders

-- query: range_current_without_order
SELECT sum(quantity) OVER (RANGE BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS a FROM orders

-- query: range_one_two_keys
SELECT sum(quantity) OVER (ORDER BY status, order_id RANGE BETWEEN CURRENT ROW AND 1 FOLLOWING) AS a FROM orders

-- query: rows_of_bigint
SELECT sum(quantity) OVER (ORDER BY order_id ROWS BETWEEN 2L PRECEDING AND CURRENT ROW) AS a FROM orders

-- query: rows_of_smallint
SELECT sum(quantity) OVER (ORDER BY order_id ROWS BETWEEN 2S PRECEDING AND CURRENT ROW) AS a FROM orders

-- query: rows_of_tinyint
SELECT sum(quantity) OVER (ORDER BY order_id ROWS BETWEEN 2Y PRECEDING AND 1Y FOLLOWING) AS a FROM orders

-- query: rows_of_decimal
SELECT sum(quantity) OVER (ORDER BY order_id ROWS BETWEEN 1.5 PRECEDING AND CURRENT ROW) AS a FROM orders

-- query: rows_of_double
SELECT sum(quantity) OVER (ORDER BY order_id ROWS BETWEEN 1D PRECEDING AND CURRENT ROW) AS a FROM orders

-- query: rows_of_interval
SELECT sum(quantity) OVER (ORDER BY order_date ROWS BETWEEN INTERVAL 1 DAY PRECEDING AND CURRENT ROW) AS a FROM orders

-- query: rows_of_null
SELECT sum(quantity) OVER (ORDER BY order_id ROWS BETWEEN NULL PRECEDING AND CURRENT ROW) AS a FROM orders

-- query: rows_of_numeric_string
SELECT sum(quantity) OVER (ORDER BY order_id ROWS BETWEEN '1' PRECEDING AND CURRENT ROW) AS a FROM orders

-- query: rows_of_boolean
SELECT sum(quantity) OVER (ORDER BY order_id ROWS BETWEEN true PRECEDING AND CURRENT ROW) AS a FROM orders

-- query: rows_of_function
SELECT sum(quantity) OVER (ORDER BY order_id ROWS BETWEEN abs(-2) PRECEDING AND CURRENT ROW) AS a FROM orders

-- query: rows_of_length
SELECT sum(quantity) OVER (ORDER BY order_id ROWS BETWEEN length('abc') PRECEDING AND CURRENT ROW) AS a FROM orders

-- query: rows_of_column
SELECT sum(quantity) OVER (ORDER BY order_id ROWS BETWEEN CURRENT ROW AND quantity FOLLOWING) AS a FROM orders

-- query: rows_of_unknown_column
SELECT sum(quantity) OVER (ORDER BY order_id ROWS BETWEEN nope PRECEDING AND CURRENT ROW) AS a FROM orders

-- query: rows_of_subquery
SELECT sum(quantity) OVER (ORDER BY order_id ROWS BETWEEN (SELECT 1) PRECEDING AND CURRENT ROW) AS a FROM orders

-- query: rows_of_rand
SELECT sum(quantity) OVER (ORDER BY order_id ROWS BETWEEN CAST(rand() AS INT) PRECEDING AND CURRENT ROW) AS a FROM orders

-- query: rows_of_current_date
SELECT sum(quantity) OVER (ORDER BY order_id ROWS BETWEEN day(current_date()) PRECEDING AND CURRENT ROW) AS a FROM orders

-- query: rows_of_large_number
SELECT sum(quantity) OVER (ORDER BY order_id ROWS BETWEEN 3000000000 PRECEDING AND CURRENT ROW) AS a FROM orders

-- query: rows_of_array
SELECT sum(quantity) OVER (ORDER BY order_id ROWS BETWEEN array(1) PRECEDING AND CURRENT ROW) AS a FROM orders

-- query: range_string_over_date
SELECT sum(quantity) OVER (ORDER BY order_date RANGE BETWEEN '5' PRECEDING AND CURRENT ROW) AS a FROM orders

-- query: range_bigint_over_date
SELECT sum(quantity) OVER (ORDER BY order_date RANGE BETWEEN 5L PRECEDING AND CURRENT ROW) AS a FROM orders

-- query: range_smallint_over_date
SELECT sum(quantity) OVER (ORDER BY order_date RANGE BETWEEN 5S PRECEDING AND CURRENT ROW) AS a FROM orders

-- query: range_int_over_timestamp
SELECT sum(quantity) OVER (ORDER BY ordered_at RANGE BETWEEN 5 PRECEDING AND CURRENT ROW) AS a FROM orders

-- query: range_hour_over_date
SELECT sum(quantity) OVER (ORDER BY order_date RANGE BETWEEN INTERVAL '1' HOUR PRECEDING AND CURRENT ROW) AS a FROM orders

-- query: range_day_to_second_over_date
SELECT sum(quantity) OVER (ORDER BY order_date RANGE BETWEEN INTERVAL '1 00:00:00' DAY TO SECOND PRECEDING AND CURRENT ROW) AS a FROM orders

-- query: range_mixed_intervals
SELECT sum(quantity) OVER (ORDER BY ordered_at RANGE BETWEEN INTERVAL 1 MONTH PRECEDING AND INTERVAL 1 DAY FOLLOWING) AS a FROM orders

-- query: range_mixed_day_time
SELECT sum(quantity) OVER (ORDER BY ordered_at RANGE BETWEEN INTERVAL 1 HOUR PRECEDING AND INTERVAL 1 DAY FOLLOWING) AS a FROM orders

-- query: range_interval_over_string
SELECT count(*) OVER (ORDER BY status RANGE BETWEEN INTERVAL 1 DAY PRECEDING AND CURRENT ROW) AS a FROM orders

-- query: range_month_over_day_interval
SELECT count(*) OVER (ORDER BY lead_time RANGE BETWEEN INTERVAL 1 MONTH PRECEDING AND CURRENT ROW) AS a FROM products

-- query: range_over_boolean
SELECT count(*) OVER (ORDER BY is_gift RANGE BETWEEN 1 PRECEDING AND CURRENT ROW) AS a FROM orders

-- query: range_over_binary
SELECT count(*) OVER (ORDER BY photo RANGE BETWEEN 1 PRECEDING AND CURRENT ROW) AS a FROM products

-- query: range_over_array
SELECT count(*) OVER (ORDER BY sizes RANGE BETWEEN 1 PRECEDING AND CURRENT ROW) AS a FROM products

-- query: range_over_struct
SELECT count(*) OVER (ORDER BY struct(quantity) RANGE BETWEEN 1 PRECEDING AND CURRENT ROW) AS a FROM orders

-- query: range_over_null
SELECT count(*) OVER (ORDER BY NULL RANGE BETWEEN 1 PRECEDING AND CURRENT ROW) AS a FROM orders

-- query: range_reversed
SELECT count(*) OVER (ORDER BY quantity RANGE BETWEEN 1 FOLLOWING AND 1 PRECEDING) AS a FROM orders

-- query: range_interval_reversed
SELECT count(*) OVER (ORDER BY order_date RANGE BETWEEN INTERVAL 1 DAY PRECEDING AND INTERVAL 2 DAYS PRECEDING) AS a FROM orders

-- query: range_mixed_types
SELECT count(*) OVER (ORDER BY order_date RANGE BETWEEN 1 PRECEDING AND INTERVAL 2 DAYS FOLLOWING) AS a FROM orders

-- query: groups_frame
SELECT count(*) OVER (ORDER BY order_date GROUPS BETWEEN 1 PRECEDING AND CURRENT ROW) AS a FROM orders

-- query: exclude_current_row
SELECT count(*) OVER (ORDER BY order_date ROWS BETWEEN 1 PRECEDING AND CURRENT ROW EXCLUDE CURRENT ROW) AS a FROM orders

-- query: row_number_range_frame
SELECT row_number() OVER (ORDER BY order_date RANGE BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS a FROM orders

-- query: row_number_whole_frame
SELECT row_number() OVER (ORDER BY order_date ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING) AS a FROM orders

-- query: dense_rank_whole_frame
SELECT dense_rank() OVER (ORDER BY order_date ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING) AS a FROM orders

-- query: percent_rank_with_frame
SELECT percent_rank() OVER (ORDER BY order_date ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING) AS a FROM orders

-- query: cume_dist_with_rows_frame
SELECT cume_dist() OVER (ORDER BY order_date ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS a FROM orders

-- query: lag_with_frame
SELECT lag(quantity) OVER (ORDER BY order_date ROWS BETWEEN 1 PRECEDING AND CURRENT ROW) AS a FROM orders

-- query: lag_with_its_own_frame
SELECT lag(quantity) OVER (ORDER BY order_date ROWS BETWEEN 1 PRECEDING AND 1 PRECEDING) AS a FROM orders

-- query: lead_with_unbounded_frame
SELECT lead(quantity) OVER (ORDER BY order_date ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING) AS a FROM orders

-- query: nth_value_negative
SELECT nth_value(quantity, -1) OVER (ORDER BY order_date) AS a FROM orders

-- query: nth_value_of_column
SELECT nth_value(quantity, priority) OVER (ORDER BY order_date) AS a FROM orders

-- query: nth_value_null
SELECT nth_value(quantity, NULL) OVER (ORDER BY order_date) AS a FROM orders

-- query: nth_value_without_order
SELECT nth_value(quantity, 1) OVER (PARTITION BY status) AS a FROM orders

-- query: nth_value_of_string_offset
SELECT nth_value(quantity, 'a') OVER (ORDER BY order_date) AS a FROM orders

-- query: ntile_negative
SELECT ntile(-1) OVER (ORDER BY order_date) AS a FROM orders

-- query: ntile_of_column
SELECT ntile(quantity) OVER (ORDER BY order_date) AS a FROM orders

-- query: ntile_of_bigint
SELECT ntile(4L) OVER (ORDER BY order_date) AS a FROM orders

-- query: ntile_of_null
SELECT ntile(NULL) OVER (ORDER BY order_date) AS a FROM orders

-- query: ntile_of_string
SELECT ntile('4') OVER (ORDER BY order_date) AS a FROM orders

-- query: lag_null_offset
SELECT lag(quantity, NULL) OVER (ORDER BY order_date) AS a FROM orders

-- query: lag_string_offset
SELECT lag(quantity, '1') OVER (ORDER BY order_date) AS a FROM orders

-- query: lag_decimal_offset
SELECT lag(quantity, 1.5) OVER (ORDER BY order_date) AS a FROM orders

-- query: lag_bigint_offset
SELECT lag(quantity, 1L) OVER (ORDER BY order_date) AS a FROM orders

-- query: lag_four_arguments
SELECT lag(quantity, 1, 0, 5) OVER (ORDER BY order_date) AS a FROM orders

-- query: frame_before_order
SELECT sum(quantity) OVER (ROWS UNBOUNDED PRECEDING ORDER BY order_id) AS a FROM orders

-- query: frame_added_to_named_window
SELECT sum(quantity) OVER (w ROWS 3 PRECEDING) AS a FROM orders WINDOW w AS (ORDER BY order_id)

-- query: order_added_to_named_window
SELECT sum(quantity) OVER (w ORDER BY order_id) AS a FROM orders WINDOW w AS (PARTITION BY status)

-- query: rank_over_framed_named_window
SELECT rank() OVER w AS a FROM orders WINDOW w AS (ORDER BY order_id ROWS 3 PRECEDING)

-- query: interval_bound_calendar
SELECT count(*) OVER (ORDER BY ordered_at RANGE BETWEEN INTERVAL 1 MONTH 2 DAYS PRECEDING AND CURRENT ROW) AS a FROM orders

-- query: interval_bound_of_make
SELECT count(*) OVER (ORDER BY ordered_at RANGE BETWEEN make_dt_interval(1) PRECEDING AND CURRENT ROW) AS a FROM orders

-- query: interval_bound_of_make_interval
SELECT count(*) OVER (ORDER BY ordered_at RANGE BETWEEN make_interval(0, 1) PRECEDING AND CURRENT ROW) AS a FROM orders

-- query: interval_bound_times
SELECT count(*) OVER (ORDER BY ordered_at RANGE BETWEEN 2 * INTERVAL 1 DAY PRECEDING AND CURRENT ROW) AS a FROM orders

-- query: rows_mixed_integer_types
SELECT sum(quantity) OVER (ORDER BY order_id ROWS BETWEEN 1 + 1L PRECEDING AND CURRENT ROW) AS a FROM orders

-- query: rows_division
SELECT sum(quantity) OVER (ORDER BY order_id ROWS BETWEEN 4 / 2 PRECEDING AND CURRENT ROW) AS a FROM orders

-- query: rows_integral_division
SELECT sum(quantity) OVER (ORDER BY order_id ROWS BETWEEN 4 DIV 2 PRECEDING AND CURRENT ROW) AS a FROM orders

-- query: range_interval_of_two_kinds
SELECT sum(quantity) OVER (ORDER BY ordered_at RANGE BETWEEN INTERVAL 1 DAY + INTERVAL 1 HOUR PRECEDING AND CURRENT ROW) AS a FROM orders

-- query: range_date_literal_bound
SELECT sum(quantity) OVER (ORDER BY order_date RANGE BETWEEN DATE '2020-01-01' PRECEDING AND CURRENT ROW) AS a FROM orders

-- query: range_date_literal_following
SELECT sum(quantity) OVER (ORDER BY quantity RANGE BETWEEN CURRENT ROW AND DATE '2020-01-01' FOLLOWING) AS a FROM orders

-- query: rows_boolean_following
SELECT sum(quantity) OVER (ORDER BY quantity ROWS BETWEEN CURRENT ROW AND true FOLLOWING) AS a FROM orders

-- query: range_string_following_over_timestamp
SELECT sum(quantity) OVER (ORDER BY ordered_at RANGE BETWEEN CURRENT ROW AND '2' FOLLOWING) AS a FROM orders

-- query: range_decimal_reversed
SELECT sum(quantity) OVER (ORDER BY amount RANGE BETWEEN 2.5 FOLLOWING AND 1.5 FOLLOWING) AS a FROM orders

-- query: range_months_reversed
SELECT sum(quantity) OVER (ORDER BY order_date RANGE BETWEEN INTERVAL 1 YEAR FOLLOWING AND INTERVAL 1 YEAR PRECEDING) AS a FROM orders

-- query: range_value_without_order
SELECT sum(quantity) OVER (PARTITION BY status RANGE BETWEEN 1 PRECEDING AND UNBOUNDED FOLLOWING) AS a FROM orders

-- query: rank_with_parameter_frame
SELECT ntile(2) OVER (ORDER BY order_id RANGE BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS a FROM orders

-- query: lead_wrong_offset_frame
SELECT lead(quantity, 2) OVER (ORDER BY order_id ROWS BETWEEN 1 FOLLOWING AND 1 FOLLOWING) AS a FROM orders

-- query: range_over_lateral_alias
SELECT quantity AS q, sum(amount) OVER (ORDER BY q RANGE 1 PRECEDING) AS a FROM orders
