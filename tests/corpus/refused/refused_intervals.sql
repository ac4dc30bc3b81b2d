-- query: year_to_month_twelve
SELECT INTERVAL '0-12' YEAR TO MONTH AS i

-- query: year_to_month_one_part
SELECT INTERVAL '2' YEAR TO MONTH AS i

-- query: year_to_month_too_large
SELECT INTERVAL '178956970-8' YEAR TO MONTH AS i

-- query: day_to_second_ten_digits
SELECT INTERVAL '3 12:30:15.1234567891' DAY TO SECOND AS i

-- query: hour_out_of_range
SELECT INTERVAL '3 24' DAY TO HOUR AS i

-- query: minute_out_of_range
SELECT INTERVAL '12:60' HOUR TO MINUTE AS i

-- query: second_out_of_range
SELECT INTERVAL '12:30:60' HOUR TO SECOND AS i

-- query: day_fraction
SELECT INTERVAL 1.5 DAY AS i

-- query: quarter_unit
SELECT INTERVAL 1 QUARTER AS i

-- query: decade_unit
SELECT INTERVAL 1 DECADE AS i

-- query: month_to_day
SELECT INTERVAL '1 2' MONTH TO DAY AS i

-- query: second_to_day
SELECT INTERVAL '1 2' SECOND TO DAY AS i

-- query: multi_mixed_families
SELECT INTERVAL 1 MONTH 2 DAYS AS i

-- query: multi_range_after_unit
SELECT INTERVAL 1 DAY '2:30' HOUR TO MINUTE AS i

-- query: minus_before_text_multi
SELECT INTERVAL -'1 day 2 hours' AS i

-- query: text_form_mixed
SELECT INTERVAL '1 month 2 days' AS i

-- query: text_form_empty
SELECT INTERVAL '' AS i

-- query: text_form_no_unit
SELECT INTERVAL '1' AS i

-- query: text_form_no_number
SELECT INTERVAL 'day' AS i

-- query: text_form_bad_unit
SELECT INTERVAL '1 fortnight' AS i

-- query: text_form_fraction_day
SELECT INTERVAL '1.25 days' AS i

-- query: interval_of_bad_number
SELECT INTERVAL '1e3' DAY AS i

-- query: interval_day_overflow
SELECT INTERVAL '106751992' DAY AS i

-- query: interval_month_overflow
SELECT INTERVAL '2147483648' MONTH AS i

-- query: interval_year_overflow
SELECT INTERVAL 178956971 YEAR AS i

-- query: interval_of_expression
SELECT INTERVAL (1 + 1) DAY AS i

-- query: interval_of_column
SELECT INTERVAL quantity DAY AS i FROM orders

-- query: interval_without_unit
SELECT INTERVAL 5 AS i

-- query: interval_unknown_unit
SELECT INTERVAL 5 FORTNIGHT AS i

-- query: date_plus_mixed
SELECT order_date + INTERVAL '1 month 2 days' AS d FROM orders

-- query: string_plus_month
SELECT note + INTERVAL 1 MONTH AS d FROM orders

-- query: interval_times_interval
SELECT INTERVAL 1 DAY * INTERVAL 1 DAY AS d

-- query: interval_div_interval
SELECT INTERVAL 2 DAY / INTERVAL 1 DAY AS d

-- query: interval_mod
SELECT INTERVAL 2 DAY % INTERVAL 1 DAY AS d

-- query: interval_compare_families
SELECT INTERVAL 1 DAY > INTERVAL 1 MONTH AS d

-- query: interval_coalesce_families
SELECT coalesce(warranty, INTERVAL 1 DAY) AS d FROM products

-- query: interval_cast_to_date
SELECT CAST(INTERVAL 5 DAY AS DATE) AS c

-- query: date_plus_date
SELECT order_date + due_date AS d FROM orders

-- query: date_plus_decimal
SELECT order_date + 1.0 AS d FROM orders

-- query: timestamp_plus_int
SELECT ordered_at + 1 AS d FROM orders

-- query: date_times_int
SELECT order_date * 2 AS d FROM orders

-- query: extract_missing_part
SELECT extract(MONTH FROM lead_time) AS d FROM products

-- query: calendar_interval_plus_day
SELECT make_interval(1) + INTERVAL 1 DAY AS a

-- query: sequence_timestamp_number
SELECT sequence(ordered_at, shipped_at, 1) AS s FROM orders

-- query: day_minus_overflow
SELECT INTERVAL '-106751992' DAY AS i

-- query: hour_overflow
SELECT INTERVAL 2562047789 HOURS AS i

-- query: second_text_overflow
SELECT INTERVAL '9223372036855.1' SECOND AS i

-- query: year_month_minus_over
SELECT INTERVAL '-178956970-9' YEAR TO MONTH AS i

-- query: sign_twice_number
SELECT INTERVAL - -1 DAY AS i

-- query: hour_to_second_over
SELECT INTERVAL '2562047788:00:55' HOUR TO SECOND AS i

-- query: day_second_no_fraction
SELECT INTERVAL '1 02:03:04.' DAY TO SECOND AS i

-- query: day_second_extra_space
SELECT INTERVAL '1  02:03:04' DAY TO SECOND AS i

-- query: day_second_t
SELECT INTERVAL '1T02:03:04' DAY TO SECOND AS i

-- query: plural_range
SELECT INTERVAL '1 02' DAYS TO HOURS AS i

-- query: number_range
SELECT INTERVAL 12 YEAR TO MONTH AS i

-- query: column_range
SELECT INTERVAL note DAY TO SECOND AS i FROM orders

-- query: multi_year_week
SELECT INTERVAL 1 YEAR 1 WEEK AS i

-- query: text_no_space
SELECT INTERVAL '1day' AS i

-- query: text_nanos
SELECT INTERVAL '5 nanoseconds' AS i

-- query: text_fraction_many
SELECT INTERVAL '1.1234567891 seconds' AS i

-- query: text_quarter
SELECT INTERVAL '1 quarter' AS i

-- query: text_large
SELECT INTERVAL '106751992 days' AS i

-- query: text_year_range
SELECT INTERVAL '1-2' AS i

-- query: big_fraction
SELECT INTERVAL '1.1234567899' SECOND AS i

-- query: scientific_number
SELECT INTERVAL 1e3 SECOND AS i

-- query: null_interval
SELECT INTERVAL NULL DAY AS i

-- query: bool_mult
SELECT INTERVAL 1 DAY * true AS i

-- query: time_plus_interval
SELECT TIME'10:00:00' + INTERVAL 1 HOUR AS t

-- query: time_minus_time
SELECT TIME'10:00:00' - TIME'09:00:00' AS t

-- query: interval_bitwise
SELECT INTERVAL 1 DAY & 1 AS t

-- query: interval_between_families
SELECT lead_time BETWEEN INTERVAL 1 HOUR AND INTERVAL 2 MONTH AS t FROM products

-- query: interval_cast_double
SELECT CAST(INTERVAL 1 YEAR AS DOUBLE) AS c

-- query: interval_cast_bad_type
SELECT CAST('1' AS INTERVAL MONTH TO DAY) AS c

-- query: interval_cast_from_double
SELECT CAST(1.5D AS INTERVAL DAY) AS c

-- query: timestamp_diff_div
SELECT (shipped_at - ordered_at) / INTERVAL 1 DAY AS d FROM orders
