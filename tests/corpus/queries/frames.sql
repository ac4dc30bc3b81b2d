-- query: rows_current_to_unbounded
SELECT sum(quantity) OVER (ORDER BY order_id ROWS BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING) AS a FROM orders

-- query: rows_following_to_following
SELECT sum(quantity) OVER (ORDER BY order_id ROWS BETWEEN 1 FOLLOWING AND 3 FOLLOWING) AS a FROM orders

-- query: rows_preceding_to_preceding
SELECT sum(quantity) OVER (ORDER BY order_id ROWS BETWEEN 3 PRECEDING AND 1 PRECEDING) AS a FROM orders

-- query: rows_following_to_current
SELECT sum(quantity) OVER (ORDER BY order_id ROWS BETWEEN 1 FOLLOWING AND CURRENT ROW) AS a FROM orders

-- query: rows_current_to_preceding
SELECT sum(quantity) OVER (ORDER BY order_id ROWS BETWEEN CURRENT ROW AND 1 PRECEDING) AS a FROM orders

-- query: rows_only_following
SELECT sum(quantity) OVER (ORDER BY order_id ROWS 2 FOLLOWING) AS a FROM orders

-- query: rows_only_preceding
SELECT sum(quantity) OVER (ORDER BY order_id ROWS 2 PRECEDING) AS a FROM orders

-- query: rows_only_current
SELECT sum(quantity) OVER (ORDER BY order_id ROWS CURRENT ROW) AS a FROM orders

-- query: rows_without_order
SELECT sum(quantity) OVER (ROWS BETWEEN 1 PRECEDING AND CURRENT ROW) AS a FROM orders

-- query: rows_unbounded_without_order
SELECT sum(quantity) OVER (PARTITION BY status ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING) AS a FROM orders

-- query: range_unbounded_without_order
SELECT sum(quantity) OVER (RANGE BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING) AS a FROM orders

-- query: range_current_row_both
SELECT sum(quantity) OVER (ORDER BY status RANGE BETWEEN CURRENT ROW AND CURRENT ROW) AS a FROM orders

-- query: range_unbounded_two_keys
SELECT sum(quantity) OVER (ORDER BY status, order_id RANGE BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS a FROM orders

-- query: range_current_two_keys
SELECT sum(quantity) OVER (ORDER BY status, order_id RANGE BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING) AS a FROM orders

-- query: rows_zero
SELECT sum(quantity) OVER (ORDER BY order_id ROWS BETWEEN 0 PRECEDING AND 0 FOLLOWING) AS a FROM orders

-- query: rows_negative
SELECT sum(quantity) OVER (ORDER BY order_id ROWS BETWEEN -1 PRECEDING AND CURRENT ROW) AS a FROM orders

-- query: rows_negative_following
SELECT sum(quantity) OVER (ORDER BY order_id ROWS BETWEEN -2 FOLLOWING AND CURRENT ROW) AS a FROM orders

-- query: rows_negative_both_valid
SELECT sum(quantity) OVER (ORDER BY order_id ROWS BETWEEN -1 FOLLOWING AND -1 PRECEDING) AS a FROM orders

-- query: rows_arithmetic
SELECT sum(quantity) OVER (ORDER BY order_id ROWS BETWEEN 1 + 1 PRECEDING AND 2 * 3 FOLLOWING) AS a FROM orders

-- query: rows_in_parentheses
SELECT sum(quantity) OVER (ORDER BY order_id ROWS BETWEEN (2) PRECEDING AND CURRENT ROW) AS a FROM orders

-- query: rows_of_cast
SELECT sum(quantity) OVER (ORDER BY order_id ROWS BETWEEN CAST('2' AS INT) PRECEDING AND CURRENT ROW) AS a FROM orders

-- query: range_int_over_bigint
SELECT sum(quantity) OVER (ORDER BY order_id RANGE BETWEEN 5 PRECEDING AND CURRENT ROW) AS a FROM orders

-- query: range_bigint_over_int
SELECT sum(quantity) OVER (ORDER BY quantity RANGE BETWEEN 5L PRECEDING AND CURRENT ROW) AS a FROM orders

-- query: range_decimal_over_int
SELECT sum(quantity) OVER (ORDER BY quantity RANGE BETWEEN 1.5 PRECEDING AND CURRENT ROW) AS a FROM orders

-- query: range_double_over_int
SELECT sum(quantity) OVER (ORDER BY quantity RANGE BETWEEN 1.5D PRECEDING AND CURRENT ROW) AS a FROM orders

-- query: range_int_over_tinyint
SELECT sum(quantity) OVER (ORDER BY priority RANGE BETWEEN 1 PRECEDING AND CURRENT ROW) AS a FROM orders

-- query: range_int_over_smallint
SELECT sum(quantity) OVER (ORDER BY region_code RANGE BETWEEN CURRENT ROW AND 1 FOLLOWING) AS a FROM orders

-- query: range_int_over_double
SELECT sum(quantity) OVER (ORDER BY tax RANGE BETWEEN 1 PRECEDING AND 1 FOLLOWING) AS a FROM orders

-- query: range_int_over_float
SELECT sum(quantity) OVER (ORDER BY weight RANGE BETWEEN 1 PRECEDING AND 1 FOLLOWING) AS a FROM orders

-- query: range_double_over_float
SELECT sum(quantity) OVER (ORDER BY weight RANGE BETWEEN 0.5D PRECEDING AND CURRENT ROW) AS a FROM orders

-- query: range_decimal_over_double
SELECT sum(quantity) OVER (ORDER BY tax RANGE BETWEEN 0.5 PRECEDING AND CURRENT ROW) AS a FROM orders

-- query: range_int_over_decimal
SELECT sum(quantity) OVER (ORDER BY amount RANGE BETWEEN 5 PRECEDING AND CURRENT ROW) AS a FROM orders

-- query: range_fine_decimal_over_decimal
SELECT sum(quantity) OVER (ORDER BY amount RANGE BETWEEN 0.00001 PRECEDING AND CURRENT ROW) AS a FROM orders

-- query: range_double_over_decimal
SELECT sum(quantity) OVER (ORDER BY amount RANGE BETWEEN 5D PRECEDING AND CURRENT ROW) AS a FROM orders

-- query: range_string_over_int
SELECT sum(quantity) OVER (ORDER BY quantity RANGE BETWEEN '5' PRECEDING AND CURRENT ROW) AS a FROM orders

-- query: range_int_over_date
SELECT sum(quantity) OVER (ORDER BY order_date RANGE BETWEEN 5 PRECEDING AND CURRENT ROW) AS a FROM orders

-- query: range_day_over_date
SELECT sum(quantity) OVER (ORDER BY order_date RANGE BETWEEN INTERVAL '5' DAY PRECEDING AND CURRENT ROW) AS a FROM orders

-- query: range_month_over_date
SELECT sum(quantity) OVER (ORDER BY order_date RANGE BETWEEN INTERVAL '1' MONTH PRECEDING AND CURRENT ROW) AS a FROM orders

-- query: range_month_over_timestamp
SELECT sum(quantity) OVER (ORDER BY ordered_at RANGE BETWEEN INTERVAL 1 MONTH PRECEDING AND CURRENT ROW) AS a FROM orders

-- query: range_year_to_month_over_timestamp
SELECT sum(quantity) OVER (ORDER BY ordered_at RANGE BETWEEN INTERVAL '1-2' YEAR TO MONTH PRECEDING AND CURRENT ROW) AS a FROM orders

-- query: range_interval_over_timestamp_ntz
SELECT count(*) OVER (ORDER BY at RANGE BETWEEN INTERVAL 30 MINUTES PRECEDING AND CURRENT ROW) AS a FROM events

-- query: range_interval_over_int
SELECT count(*) OVER (ORDER BY quantity RANGE BETWEEN INTERVAL 30 MINUTES PRECEDING AND CURRENT ROW) AS a FROM orders

-- query: range_over_interval
SELECT count(*) OVER (ORDER BY lead_time RANGE BETWEEN INTERVAL 1 DAY PRECEDING AND CURRENT ROW) AS a FROM products

-- query: range_over_year_month_interval
SELECT count(*) OVER (ORDER BY warranty RANGE BETWEEN INTERVAL 1 MONTH PRECEDING AND CURRENT ROW) AS a FROM products

-- query: range_of_null
SELECT count(*) OVER (ORDER BY quantity RANGE BETWEEN NULL PRECEDING AND CURRENT ROW) AS a FROM orders

-- query: range_mixed_int_and_bigint
SELECT count(*) OVER (ORDER BY order_id RANGE BETWEEN 1 PRECEDING AND 2L FOLLOWING) AS a FROM orders

-- query: range_descending
SELECT count(*) OVER (ORDER BY quantity DESC RANGE BETWEEN 1 PRECEDING AND 2 FOLLOWING) AS a FROM orders

-- query: range_descending_interval
SELECT count(*) OVER (ORDER BY ordered_at DESC NULLS LAST RANGE BETWEEN INTERVAL 1 DAY PRECEDING AND INTERVAL 1 DAY FOLLOWING) AS a FROM orders

-- query: range_only_interval
SELECT count(*) OVER (ORDER BY order_date RANGE INTERVAL 7 DAYS PRECEDING) AS a FROM orders

-- query: range_only_unbounded
SELECT count(*) OVER (ORDER BY order_date RANGE UNBOUNDED PRECEDING) AS a FROM orders

-- query: range_over_expression
SELECT count(*) OVER (ORDER BY unix_timestamp(ordered_at) RANGE BETWEEN 3600 PRECEDING AND CURRENT ROW) AS a FROM orders

-- query: range_over_cast
SELECT count(*) OVER (ORDER BY CAST(ordered_at AS LONG) RANGE BETWEEN 86400 PRECEDING AND CURRENT ROW) AS a FROM orders

-- query: range_over_date_of_expression
SELECT count(*) OVER (ORDER BY to_date(note) RANGE BETWEEN INTERVAL 1 YEAR PRECEDING AND CURRENT ROW) AS a FROM orders

-- query: row_number_unbounded_frame
SELECT row_number() OVER (ORDER BY order_date ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS a FROM orders

-- query: rank_unbounded_frame
SELECT rank() OVER (ORDER BY order_date ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS a FROM orders

-- query: cume_dist_with_frame
SELECT cume_dist() OVER (ORDER BY order_date RANGE BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS a FROM orders

-- query: ntile_with_frame
SELECT ntile(4) OVER (ORDER BY order_date ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS a FROM orders

-- query: lag_with_its_own_frame_as_it_is_written
SELECT lag(quantity) OVER (ORDER BY order_date ROWS BETWEEN -1 FOLLOWING AND -1 FOLLOWING) AS a FROM orders

-- query: lead_with_its_own_frame
SELECT lead(quantity, 2) OVER (ORDER BY order_date ROWS BETWEEN 2 FOLLOWING AND 2 FOLLOWING) AS a FROM orders

-- query: nth_value_with_frame
SELECT nth_value(quantity, 2) OVER (ORDER BY order_date ROWS BETWEEN 1 PRECEDING AND 1 FOLLOWING) AS a FROM orders

-- query: nth_value_with_range_frame
SELECT nth_value(quantity, 2) OVER (ORDER BY quantity RANGE BETWEEN 1 PRECEDING AND 1 FOLLOWING) AS a FROM orders

-- query: ntile_default
SELECT ntile() OVER (ORDER BY order_date) AS a FROM orders

-- query: ntile_of_expression
SELECT ntile(2 + 2) OVER (ORDER BY order_date) AS a FROM orders

-- query: lag_negative_offset
SELECT lag(quantity, -1) OVER (ORDER BY order_date) AS a FROM orders

-- query: lag_expression_offset
SELECT lag(quantity, 1 + 1) OVER (ORDER BY order_date) AS a FROM orders

-- query: lag_null_default
SELECT lag(quantity, 1, NULL) OVER (ORDER BY order_date) AS a FROM orders

-- query: lag_column_default
SELECT lag(quantity, 1, region_code) OVER (ORDER BY order_date) AS a FROM orders

-- query: lag_decimal_default
SELECT lag(amount, 1, 0.5) OVER (ORDER BY order_date) AS a, lag(amount, 1, 0.12345) OVER (ORDER BY order_date) AS b FROM orders

-- query: lag_string_default_of_int
SELECT lag(quantity, 1, 'x') OVER (ORDER BY order_date) AS a FROM orders

-- query: lag_date_default
SELECT lag(order_date, 1, DATE '2020-01-01') OVER (ORDER BY order_date) AS a FROM orders

-- query: lag_string_default_of_date
SELECT lag(order_date, 1, '2020-01-01') OVER (ORDER BY order_date) AS a FROM orders

-- query: lead_without_arguments
SELECT lead() OVER (ORDER BY order_date) AS a FROM orders

-- query: frame_in_named_window
SELECT sum(quantity) OVER w AS a, avg(quantity) OVER w AS b FROM orders WINDOW w AS (ORDER BY order_id ROWS 3 PRECEDING)

-- query: first_value_with_frame
SELECT first_value(status) OVER (ORDER BY order_id ROWS BETWEEN 2 FOLLOWING AND 5 FOLLOWING) AS a, last_value(quantity) OVER (PARTITION BY status ORDER BY order_id ROWS BETWEEN CURRENT ROW AND 1 FOLLOWING) AS b FROM orders

-- query: collect_list_with_frame
SELECT collect_list(status) OVER (ORDER BY order_id ROWS BETWEEN 2 PRECEDING AND CURRENT ROW) AS a, count(*) OVER (ORDER BY order_id ROWS 1 PRECEDING) AS b FROM orders

-- query: interval_bound_negative
SELECT count(*) OVER (ORDER BY order_date RANGE BETWEEN INTERVAL '-1' DAY PRECEDING AND CURRENT ROW) AS a FROM orders

-- query: interval_bound_multi_unit
SELECT count(*) OVER (ORDER BY ordered_at RANGE BETWEEN INTERVAL 1 DAY 2 HOURS PRECEDING AND CURRENT ROW) AS a FROM orders

-- query: nth_value_second_row_frame
SELECT nth_value(quantity, 2) OVER (ORDER BY order_id ROWS BETWEEN CURRENT ROW AND 2 FOLLOWING) AS a FROM orders

-- query: rows_modulo
SELECT sum(quantity) OVER (ORDER BY order_id ROWS BETWEEN 5 % 3 PRECEDING AND CURRENT ROW) AS a FROM orders

-- query: rows_case
SELECT sum(quantity) OVER (ORDER BY order_id ROWS BETWEEN CASE WHEN true THEN 1 ELSE 2 END PRECEDING AND CURRENT ROW) AS a FROM orders

-- query: rows_plus_sign
SELECT sum(quantity) OVER (ORDER BY order_id ROWS BETWEEN +1 PRECEDING AND CURRENT ROW) AS a FROM orders

-- query: rows_cast_of_decimal
SELECT sum(quantity) OVER (ORDER BY order_id ROWS BETWEEN CAST(1.5 AS INT) PRECEDING AND CURRENT ROW) AS a FROM orders

-- query: rows_bitwise
SELECT sum(quantity) OVER (ORDER BY order_id ROWS BETWEEN 2 | 1 PRECEDING AND CURRENT ROW) AS a FROM orders

-- query: range_interval_sum
SELECT sum(quantity) OVER (ORDER BY ordered_at RANGE BETWEEN INTERVAL 1 DAY + INTERVAL 1 DAY PRECEDING AND CURRENT ROW) AS a FROM orders

-- query: range_interval_negated
SELECT sum(quantity) OVER (ORDER BY ordered_at RANGE BETWEEN -INTERVAL 1 DAY PRECEDING AND CURRENT ROW) AS a FROM orders

-- query: range_boolean_following
SELECT sum(quantity) OVER (ORDER BY quantity RANGE BETWEEN CURRENT ROW AND true FOLLOWING) AS a FROM orders

-- query: range_string_following
SELECT sum(quantity) OVER (ORDER BY quantity RANGE BETWEEN CURRENT ROW AND '2' FOLLOWING) AS a FROM orders

-- query: range_reversed_after_cast
SELECT sum(quantity) OVER (ORDER BY quantity RANGE BETWEEN 1.9 FOLLOWING AND 1 FOLLOWING) AS a FROM orders

-- query: range_hours_equal
SELECT sum(quantity) OVER (ORDER BY ordered_at RANGE BETWEEN INTERVAL 2 HOURS PRECEDING AND INTERVAL 2 HOURS PRECEDING) AS a FROM orders

-- query: range_unbounded_and_value
SELECT sum(quantity) OVER (ORDER BY quantity RANGE BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS a FROM orders

-- query: rank_with_single_bound
SELECT rank() OVER (ORDER BY order_id ROWS UNBOUNDED PRECEDING) AS a FROM orders

-- query: lead_default_frame
SELECT lead(quantity) OVER (ORDER BY order_id ROWS BETWEEN 1 FOLLOWING AND 1 FOLLOWING) AS a FROM orders

-- query: first_value_range_frame
SELECT first_value(status) OVER (ORDER BY order_date RANGE INTERVAL 3 DAYS PRECEDING) AS a FROM orders

-- query: range_over_nullable_date
SELECT count(*) OVER (ORDER BY due_date RANGE BETWEEN INTERVAL '2' YEAR PRECEDING AND INTERVAL '1' YEAR FOLLOWING) AS a FROM orders

-- query: range_over_calendar_interval
SELECT count(*) OVER (ORDER BY ordered_at RANGE BETWEEN INTERVAL '1 day' PRECEDING AND CURRENT ROW) AS a FROM orders

-- query: range_over_interval_of_minutes
SELECT count(*) OVER (ORDER BY lead_time RANGE BETWEEN INTERVAL '5' MINUTE PRECEDING AND INTERVAL '1' DAY FOLLOWING) AS a FROM products
