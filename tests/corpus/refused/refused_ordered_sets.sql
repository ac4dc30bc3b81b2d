-- query: percentile_of_date
SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY order_date) AS a FROM orders

-- query: percentile_cont_of_boolean
SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY is_gift) AS a FROM orders

-- query: percentile_cont_of_timestamp
SELECT percentile_disc(0.5) WITHIN GROUP (ORDER BY ordered_at) AS a FROM orders

-- query: percentile_cont_out_of_range
SELECT percentile_cont(1.5) WITHIN GROUP (ORDER BY amount) AS a FROM orders

-- query: percentile_cont_negative
SELECT percentile_cont(-0.1) WITHIN GROUP (ORDER BY amount) AS a FROM orders

-- query: percentile_cont_array_out_of_range
SELECT percentile_cont(array(0.1, 1.1)) WITHIN GROUP (ORDER BY amount) AS a FROM orders

-- query: percentile_cont_of_column
SELECT percentile_cont(discount) WITHIN GROUP (ORDER BY amount) AS a FROM orders

-- query: percentile_cont_of_null
SELECT percentile_cont(NULL) WITHIN GROUP (ORDER BY amount) AS a FROM orders

-- query: percentile_cont_of_word
SELECT percentile_cont('half') WITHIN GROUP (ORDER BY amount) AS a FROM orders

-- query: percentile_cont_of_two
SELECT percentile_cont(0.5, 0.6) WITHIN GROUP (ORDER BY amount) AS a FROM orders

-- query: percentile_cont_of_none
SELECT percentile_cont() WITHIN GROUP (ORDER BY amount) AS a FROM orders

-- query: percentile_cont_of_two_orders
SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY amount, quantity) AS a FROM orders

-- query: percentile_cont_without_within
SELECT percentile_cont(0.5) AS a FROM orders

-- query: percentile_cont_of_two_without_within
SELECT percentile_cont(amount, 0.5) AS a FROM orders

-- query: percentile_disc_without_within_over
SELECT percentile_disc(0.5) OVER (PARTITION BY status) AS a FROM orders

-- query: percentile_cont_filter_before_within
SELECT percentile_cont(0.5) FILTER (WHERE is_gift) WITHIN GROUP (ORDER BY amount) AS a FROM orders

-- query: percentile_cont_filter_not_boolean
SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY amount) FILTER (WHERE quantity) AS a FROM orders

-- query: percentile_cont_distinct
SELECT percentile_cont(DISTINCT 0.5) WITHIN GROUP (ORDER BY amount) AS a FROM orders

-- query: percentile_disc_distinct
SELECT percentile_disc(DISTINCT 0.5) WITHIN GROUP (ORDER BY amount) AS a FROM orders

-- query: percentile_cont_distinct_over
SELECT percentile_cont(DISTINCT 0.5) WITHIN GROUP (ORDER BY amount) OVER () AS a FROM orders

-- query: percentile_cont_over_order
SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY amount) OVER (PARTITION BY status ORDER BY order_id) AS a FROM orders

-- query: percentile_cont_over_frame
SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY amount) OVER (ROWS BETWEEN 1 PRECEDING AND CURRENT ROW) AS a FROM orders

-- query: percentile_cont_over_named_ordered_window
SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY amount) OVER w AS a FROM orders WINDOW w AS (PARTITION BY status ORDER BY order_id)

-- query: percentile_disc_over_named_framed_window
SELECT percentile_disc(0.5) WITHIN GROUP (ORDER BY amount) OVER w AS a FROM orders WINDOW w AS (PARTITION BY status ROWS UNBOUNDED PRECEDING)

-- query: percentile_cont_filter_over
SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY amount) FILTER (WHERE is_gift) OVER (PARTITION BY status) AS a FROM orders

-- query: median_over_order
SELECT median(amount) OVER (PARTITION BY status ORDER BY order_id) AS a FROM orders

-- query: median_over_frame
SELECT median(amount) OVER (ROWS 3 PRECEDING) AS a FROM orders

-- query: median_over_ordered_frame
SELECT median(amount) OVER (ORDER BY order_id ROWS BETWEEN 3 PRECEDING AND CURRENT ROW) AS a FROM orders

-- query: median_distinct_over
SELECT median(DISTINCT amount) OVER () AS a FROM orders

-- query: median_of_date
SELECT median(order_date) AS a FROM orders

-- query: median_of_boolean
SELECT median(is_gift) AS a FROM orders

-- query: median_of_two
SELECT median(amount, 2) AS a FROM orders

-- query: median_within_group
SELECT median(amount) WITHIN GROUP (ORDER BY amount) AS a FROM orders

-- query: median_of_median
SELECT median(median(amount)) AS a FROM orders GROUP BY status

-- query: percentile_with_decimal_frequency
SELECT percentile(amount, 0.5, tax) AS a FROM orders

-- query: percentile_with_string_frequency
SELECT percentile(amount, 0.5, status) AS a FROM orders

-- query: percentile_of_a_date
SELECT percentile(order_date, 0.5) AS a FROM orders

-- query: percentile_out_of_range
SELECT percentile(amount, 2) AS a FROM orders

-- query: percentile_column_percentage
SELECT percentile(amount, discount) AS a FROM orders

-- query: percentile_null_percentage
SELECT percentile(amount, NULL) AS a FROM orders

-- query: percentile_null_array_percentage
SELECT percentile(amount, array(0.5, NULL)) AS a FROM orders

-- query: percentile_distinct_over
SELECT percentile(DISTINCT amount, 0.5) OVER () AS a FROM orders

-- query: percentile_within_group
SELECT percentile(0.5) WITHIN GROUP (ORDER BY amount) AS a FROM orders

-- query: percentile_one_argument
SELECT percentile(amount) AS a FROM orders

-- query: approx_of_boolean
SELECT percentile_approx(is_gift, 0.5) AS a FROM orders

-- query: approx_accuracy_zero
SELECT percentile_approx(amount, 0.5, 0) AS a FROM orders

-- query: approx_accuracy_negative
SELECT percentile_approx(amount, 0.5, -1) AS a FROM orders

-- query: approx_accuracy_column
SELECT percentile_approx(amount, 0.5, quantity) AS a FROM orders

-- query: approx_accuracy_decimal
SELECT percentile_approx(amount, 0.5, 10.5) AS a FROM orders

-- query: approx_accuracy_string
SELECT percentile_approx(amount, 0.5, '100') AS a FROM orders

-- query: approx_accuracy_null
SELECT percentile_approx(amount, 0.5, NULL) AS a FROM orders

-- query: approx_percentage_column
SELECT percentile_approx(amount, tax) AS a FROM orders

-- query: approx_percentage_range
SELECT percentile_approx(amount, 1.01) AS a FROM orders

-- query: approx_percentage_array_range
SELECT percentile_approx(amount, array(0.5, -1)) AS a FROM orders

-- query: approx_percentage_null
SELECT percentile_approx(amount, NULL) AS a FROM orders

-- query: approx_distinct_over
SELECT percentile_approx(DISTINCT amount, 0.5) OVER (PARTITION BY status) AS a FROM orders

-- query: approx_within_group
SELECT percentile_approx(0.5) WITHIN GROUP (ORDER BY amount) AS a FROM orders

-- query: cont_of_aggregate_plain
SELECT status, percentile_cont(0.5) WITHIN GROUP (ORDER BY sum(amount)) AS a FROM orders GROUP BY status

-- query: cont_of_ungrouped_over
SELECT status, percentile_cont(0.5) WITHIN GROUP (ORDER BY amount) OVER () AS a FROM orders GROUP BY status

-- query: mode_deterministic_column
SELECT mode(status, is_gift) AS a FROM orders

-- query: mode_deterministic_string
SELECT mode(status, 'true') AS a FROM orders

-- query: mode_deterministic_null
SELECT mode(status, NULL) AS a FROM orders

-- query: mode_deterministic_int
SELECT mode(status, 1) AS a FROM orders

-- query: mode_within_group_with_argument
SELECT mode(status) WITHIN GROUP (ORDER BY status) AS a FROM orders

-- query: mode_within_group_two_orders
SELECT mode() WITHIN GROUP (ORDER BY status, quantity) AS a FROM orders

-- query: mode_within_group_distinct
SELECT mode(DISTINCT) WITHIN GROUP (ORDER BY status) AS a FROM orders

-- query: mode_without_arguments
SELECT mode() AS a FROM orders

-- query: mode_distinct
SELECT mode(DISTINCT status) AS a FROM orders

-- query: mode_distinct_within
SELECT mode(DISTINCT status) WITHIN GROUP (ORDER BY status) AS a FROM orders

-- query: mode_three_arguments
SELECT mode(status, true, 1) AS a FROM orders

-- query: mode_distinct_over
SELECT mode(DISTINCT status) OVER () AS a FROM orders

-- query: listagg_distinct_within_other
SELECT listagg(DISTINCT status, ',') WITHIN GROUP (ORDER BY order_id) AS a FROM orders

-- query: listagg_distinct_within_other_expression
SELECT listagg(DISTINCT status, ',') WITHIN GROUP (ORDER BY upper(status)) AS a FROM orders

-- query: listagg_distinct_within_same_and_other
SELECT listagg(DISTINCT status, ',') WITHIN GROUP (ORDER BY status, order_id) AS a FROM orders

-- query: listagg_distinct_of_int_within
SELECT listagg(DISTINCT quantity, ',') WITHIN GROUP (ORDER BY quantity) AS a FROM orders

-- query: listagg_of_array
SELECT listagg(tags, ',') AS a FROM customers

-- query: listagg_of_binary_with_string
SELECT listagg(photo, ',') AS a FROM products

-- query: listagg_of_string_with_binary
SELECT listagg(sku, x'2C') AS a FROM products

-- query: listagg_delimiter_column
SELECT listagg(status, note) AS a FROM orders

-- query: listagg_three_arguments
SELECT listagg(status, ',', 1) AS a FROM orders

-- query: listagg_without_arguments
SELECT listagg() AS a FROM orders

-- query: listagg_star
SELECT listagg(*) AS a FROM orders

-- query: listagg_within_over_order
SELECT listagg(status, ',') WITHIN GROUP (ORDER BY status) OVER (PARTITION BY customer_id ORDER BY order_id) AS a FROM orders

-- query: listagg_within_over_frame
SELECT listagg(status, ',') WITHIN GROUP (ORDER BY status) OVER (ROWS 1 PRECEDING) AS a FROM orders

-- query: listagg_distinct_over
SELECT listagg(DISTINCT status, ',') OVER () AS a FROM orders

-- query: listagg_within_map_order
SELECT listagg(sku) WITHIN GROUP (ORDER BY attributes) AS a FROM products

-- query: within_group_on_sum
SELECT sum(amount) WITHIN GROUP (ORDER BY amount) AS a FROM orders

-- query: within_group_on_collect_list
SELECT collect_list(status) WITHIN GROUP (ORDER BY order_id) AS a FROM orders

-- query: within_group_on_array_agg
SELECT array_agg(status) WITHIN GROUP (ORDER BY order_id) AS a FROM orders

-- query: within_group_on_count
SELECT count(*) WITHIN GROUP (ORDER BY order_id) AS a FROM orders

-- query: within_group_on_scalar
SELECT upper(status) WITHIN GROUP (ORDER BY order_id) AS a FROM orders

-- query: within_group_on_row_number
SELECT row_number() WITHIN GROUP (ORDER BY order_id) AS a FROM orders

-- query: within_group_on_rank
SELECT rank(1) WITHIN GROUP (ORDER BY order_id) AS a FROM orders

-- query: within_group_on_unknown
SELECT nothing(1) WITHIN GROUP (ORDER BY order_id) AS a FROM orders

-- query: within_group_unknown_column
SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY nothing) AS a FROM orders

-- query: within_group_empty
SELECT percentile_cont(0.5) WITHIN GROUP () AS a FROM orders

-- query: within_group_without_order
SELECT listagg(status) WITHIN GROUP (status) AS a FROM orders

-- query: order_inside_listagg
SELECT string_agg(status, ',' ORDER BY status) AS a FROM orders

-- query: order_inside_array_agg
SELECT array_agg(status ORDER BY status) AS a FROM orders

-- query: within_group_in_where
SELECT status FROM orders WHERE percentile_cont(0.5) WITHIN GROUP (ORDER BY amount) > 1

-- query: within_group_with_window_inside
SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY row_number() OVER (ORDER BY order_id)) AS a FROM orders

-- query: within_group_with_aggregate_inside
SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY max(amount)) AS a FROM orders

-- query: listagg_with_aggregate_inside
SELECT listagg(status, ',') WITHIN GROUP (ORDER BY max(amount)) AS a FROM orders

-- query: within_group_lateral_alias
SELECT amount * 2 AS double_amount, percentile_cont(0.5) WITHIN GROUP (ORDER BY double_amount) AS a FROM orders GROUP BY amount

-- query: median_ungrouped_beside_column
SELECT status, median(amount) AS a FROM orders

-- query: mode_ungrouped_beside_column
SELECT status, mode() WITHIN GROUP (ORDER BY amount) AS a FROM orders

-- query: median_ignore_nulls
SELECT median(amount) IGNORE NULLS AS a FROM orders

-- query: percentile_cont_ignore_nulls
SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY amount) IGNORE NULLS AS a FROM orders

-- query: sum_distinct_over
SELECT sum(DISTINCT quantity) OVER (PARTITION BY status) AS a FROM orders

-- query: filter_nondeterministic
SELECT sum(amount) FILTER (WHERE rand() > 0.5) AS a FROM orders

-- query: filter_window
SELECT sum(amount) FILTER (WHERE row_number() OVER (ORDER BY order_id) = 1) AS a FROM orders

-- query: filter_on_ranking
SELECT row_number() FILTER (WHERE is_gift) OVER (ORDER BY order_id) AS a FROM orders

-- query: listagg_distinct_cast_order_int
SELECT listagg(DISTINCT CAST(quantity AS STRING)) WITHIN GROUP (ORDER BY quantity) AS a FROM orders

-- query: listagg_over_whole_range
SELECT listagg(status) WITHIN GROUP (ORDER BY status) OVER (RANGE BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING) AS a FROM orders

-- query: listagg_distinct_other_delimiter_only
SELECT listagg(DISTINCT status, note) AS a FROM orders

-- query: median_over_whole_range
SELECT median(amount) OVER (RANGE BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING) AS a FROM orders

-- query: median_over_sorted
SELECT median(amount) OVER (DISTRIBUTE BY status SORT BY order_id) AS a FROM orders

-- query: percentile_array_of_columns
SELECT percentile_cont(array(discount)) WITHIN GROUP (ORDER BY amount) AS a FROM orders

-- query: percentile_array_of_null
SELECT percentile_cont(array(0.5, NULL)) WITHIN GROUP (ORDER BY amount) AS a FROM orders

-- query: percentile_array_of_strings
SELECT percentile_approx(amount, array('0.1', '0.2')) AS b FROM orders

-- query: percentile_array_of_words
SELECT percentile_approx(amount, array('a')) AS b FROM orders

-- query: percentile_word
SELECT percentile(amount, 'x') AS b FROM orders

-- query: percentile_approx_word
SELECT percentile_approx(amount, 'x') AS b FROM orders

-- query: percentile_of_arithmetic_out_of_range
SELECT percentile_cont(0.75 + 0.75) WITHIN GROUP (ORDER BY amount) AS a FROM orders

-- query: percentile_arity_before_within
SELECT percentile_cont(0.5, 0.5, 0.5) WITHIN GROUP (ORDER BY amount) AS a FROM orders

-- query: percentile_disc_of_none_without
SELECT percentile_disc() AS a FROM orders

-- query: percentile_disc_of_two_without
SELECT percentile_disc(0.5, amount) AS a FROM orders

-- query: mode_one_argument_two_orderings
SELECT mode(status) WITHIN GROUP (ORDER BY status, note) AS a FROM orders

-- query: mode_true_within
SELECT mode(true) WITHIN GROUP (ORDER BY status) AS a FROM orders

-- query: mode_of_map_within
SELECT mode() WITHIN GROUP (ORDER BY attributes) AS a FROM products

-- query: median_within_group_without_argument
SELECT median() WITHIN GROUP (ORDER BY amount) AS a FROM orders

-- query: max_within_group
SELECT max(amount) WITHIN GROUP (ORDER BY amount) AS a FROM orders

-- query: max_within_group_wrong_arity
SELECT max(amount, 1) WITHIN GROUP (ORDER BY amount) AS a FROM orders

-- query: first_within_group
SELECT first(amount) WITHIN GROUP (ORDER BY amount) AS a FROM orders

-- query: count_distinct_within_group
SELECT count(DISTINCT status) WITHIN GROUP (ORDER BY status) AS a FROM orders

-- query: rank_without_over_within
SELECT dense_rank() WITHIN GROUP (ORDER BY status) AS a FROM orders

-- query: listagg_within_window_function
SELECT listagg(status) WITHIN GROUP (ORDER BY rank() OVER (ORDER BY amount)) AS a FROM orders

-- query: listagg_within_lateral_alias
SELECT upper(status) AS u, listagg(note) WITHIN GROUP (ORDER BY u) AS a FROM orders GROUP BY upper(status)

-- query: listagg_within_rand
SELECT listagg(status) WITHIN GROUP (ORDER BY rand()) AS a FROM orders

-- query: listagg_of_rand
SELECT listagg(CAST(rand() AS STRING)) AS a FROM orders

-- query: filter_on_nth_value
SELECT nth_value(status, 1) FILTER (WHERE is_gift) OVER (ORDER BY order_id) AS a FROM orders

-- query: filter_on_lag
SELECT lag(status) FILTER (WHERE is_gift) OVER (ORDER BY order_id) AS a FROM orders

-- query: filter_on_first_over
SELECT first_value(status) FILTER (WHERE is_gift) OVER (ORDER BY order_id) AS a FROM orders

-- query: ignore_nulls_on_percentile_over
SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY amount) IGNORE NULLS OVER () AS a FROM orders

-- query: ignore_nulls_on_listagg
SELECT listagg(status) IGNORE NULLS AS a FROM orders

-- query: ignore_nulls_on_mode
SELECT mode(status) IGNORE NULLS AS a FROM orders

-- query: ignore_nulls_on_collect_list
SELECT collect_list(status) IGNORE NULLS AS a FROM orders

-- query: ignore_nulls_on_max
SELECT max(status) IGNORE NULLS AS a FROM orders

-- query: ignore_nulls_on_rank
SELECT rank() IGNORE NULLS OVER (ORDER BY order_id) AS a FROM orders

-- query: ignore_nulls_inside
SELECT first_value(status IGNORE NULLS) OVER (ORDER BY order_id) AS a FROM orders

-- query: distinct_on_window_rank
SELECT rank(DISTINCT status) OVER (ORDER BY order_id) AS a FROM orders

-- query: nth_value_ignore_nulls_wrong
SELECT nth_value(status, 1, 5) OVER (ORDER BY order_id) AS a FROM orders

-- query: first_ignore_nulls_wrong
SELECT first(status, 5) AS a FROM orders

-- query: first_ignore_nulls_column
SELECT first_value(status, is_gift) AS a FROM orders

-- query: ignore_nulls_on_array_agg_plain
SELECT array_agg(status) IGNORE NULLS AS a FROM orders
