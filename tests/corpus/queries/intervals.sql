-- query: year_plain
SELECT INTERVAL 1 YEAR AS i

-- query: year_negative_number
SELECT INTERVAL -1 YEAR AS i

-- query: year_to_month_signed
SELECT INTERVAL -'2-3' YEAR TO MONTH AS i

-- query: year_to_month_eleven
SELECT INTERVAL '0-11' YEAR TO MONTH AS i

-- query: month_plain
SELECT INTERVAL '14' MONTH AS i

-- query: day_to_hour
SELECT INTERVAL '3 12' DAY TO HOUR AS i

-- query: day_to_second_nanos
SELECT INTERVAL '3 12:30:15.123456789' DAY TO SECOND AS i

-- query: minute_to_second
SELECT INTERVAL '30:15' MINUTE TO SECOND AS i

-- query: second_fraction
SELECT INTERVAL '1.5' SECOND AS i

-- query: weeks_text
SELECT INTERVAL '2' WEEKS AS i

-- query: multi_day_hour
SELECT INTERVAL 1 DAY 2 HOURS AS i

-- query: multi_text_numbers
SELECT INTERVAL '1' DAY '2' HOURS AS i

-- query: multi_signed_parts
SELECT INTERVAL 1 DAY -2 HOURS AS i

-- query: minus_before_multi_year
SELECT - INTERVAL 1 YEAR 2 MONTHS AS i

-- query: plus_before_interval
SELECT + INTERVAL 1 DAY AS i

-- query: text_form_with_word
SELECT INTERVAL 'interval 1 day' AS i

-- query: text_form_sign_space
SELECT INTERVAL '- 1 day' AS i

-- query: interval_day_largest
SELECT INTERVAL '106751991' DAY AS i

-- query: unit_column_day
SELECT day FROM calendar

-- query: date_plus_month
SELECT order_date + INTERVAL 1 MONTH AS d FROM orders

-- query: interval_plus_date
SELECT INTERVAL 1 DAY + order_date AS d FROM orders

-- query: ntz_plus_day
SELECT at + INTERVAL 1 DAY AS d FROM events

-- query: string_minus_interval
SELECT note - INTERVAL 1 DAY AS d FROM orders

-- query: interval_times_decimal
SELECT INTERVAL 1 YEAR * amount AS d FROM orders

-- query: interval_div_double
SELECT INTERVAL 1 YEAR / tax AS d FROM orders

-- query: interval_plus_interval
SELECT INTERVAL 1 DAY + INTERVAL 1 HOUR AS d

-- query: interval_in_list
SELECT lead_time IN (INTERVAL 1 DAY, INTERVAL 2 HOURS) AS d FROM products

-- query: interval_union
SELECT INTERVAL 1 DAY AS d UNION ALL SELECT INTERVAL 1 SECOND

-- query: interval_cast_text
SELECT CAST('1-2' AS INTERVAL YEAR TO MONTH) AS c

-- query: interval_cast_to_int
SELECT CAST(INTERVAL 5 DAY AS INT) AS c

-- query: interval_cast_calendar
SELECT CAST('1 month 2 days' AS INTERVAL) AS c

-- query: timestamps_difference
SELECT ordered_at - shipped_at AS d FROM orders

-- query: ntz_ltz_difference
SELECT at - received AS d FROM events

-- query: timestamp_string_difference
SELECT ordered_at - note AS d FROM orders

-- query: difference_compare
SELECT order_id FROM orders WHERE shipped_at - ordered_at > INTERVAL 2 DAYS

-- query: between_hours
SELECT order_id FROM orders WHERE order_date BETWEEN current_date() - INTERVAL 7 HOURS AND current_date()

-- query: make_intervals
SELECT make_dt_interval(1, 2) AS a, make_ym_interval(1) AS b, make_interval(1, 2, 3) AS c

-- query: sequence_with_interval
SELECT sequence(order_date, due_date, INTERVAL 1 MONTH) AS s FROM orders

-- query: dateadd_unit
SELECT dateadd(MONTH, 2, order_date) AS s, timestampadd(HOUR, 1, ordered_at) AS t FROM orders

-- query: frame_interval_multi
SELECT sum(amount) OVER (ORDER BY ordered_at RANGE BETWEEN INTERVAL 1 DAY 2 HOURS PRECEDING AND CURRENT ROW) AS s FROM orders

-- query: frame_interval_over_number
SELECT sum(amount) OVER (ORDER BY quantity RANGE BETWEEN INTERVAL 1 MONTH PRECEDING AND CURRENT ROW) AS s FROM orders

-- query: try_add_interval
SELECT try_add(order_date, INTERVAL 1 DAY) AS a, try_add(ordered_at, INTERVAL 1 MONTH) AS b, try_subtract(order_date, due_date) AS c, try_multiply(INTERVAL 1 DAY, 2) AS d FROM orders

-- query: day_minus_largest
SELECT INTERVAL '-106751991' DAY AS i

-- query: month_minus_largest
SELECT INTERVAL -2147483648 MONTHS AS i

-- query: day_to_hour_large
SELECT INTERVAL '106751991 04' DAY TO HOUR AS i

-- query: lower_case
select interval '1-2' year to month as i

-- query: multi_plus
SELECT INTERVAL 1 DAY + 2 HOURS AS i

-- query: multi_then_minus_number
SELECT order_date - INTERVAL 1 DAY - 2 AS d FROM orders

-- query: multi_week_day
SELECT INTERVAL 1 WEEK 2 DAYS AS i

-- query: text_trailing
SELECT INTERVAL '1 day ' AS i

-- query: text_repeat_units
SELECT INTERVAL '1 day 2 day' AS i

-- query: double_quoted
SELECT INTERVAL "1" DAY AS i

-- query: date_plus_col
SELECT order_date + lead_time AS d, order_date - warranty AS e FROM orders CROSS JOIN products

-- query: interval_between
SELECT lead_time BETWEEN INTERVAL 1 HOUR AND INTERVAL 2 DAY AS t FROM products

-- query: interval_array
SELECT array(INTERVAL 1 DAY, INTERVAL 2 SECONDS) AS t

-- query: interval_nullif
SELECT nullif(lead_time, INTERVAL 1 DAY) AS t FROM products

-- query: interval_cast_string
SELECT CAST(INTERVAL 1 DAY AS STRING) AS c, INTERVAL 1 DAY::STRING AS d

-- query: interval_percentile
SELECT percentile(lead_time, 0.5) AS s, percentile(warranty, array(0.1, 0.5)) AS p FROM products

-- query: interval_order
SELECT sku FROM products ORDER BY warranty DESC, lead_time

-- query: timestamp_diff_extract
SELECT extract(HOUR FROM shipped_at - ordered_at) AS d, extract(DAYS FROM shipped_at - ordered_at) AS e FROM orders

-- query: avg_diff
SELECT avg(shipped_at - ordered_at) AS a, sum(due_date - order_date) AS s FROM orders
