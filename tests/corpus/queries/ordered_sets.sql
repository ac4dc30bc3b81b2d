-- query: percentile_cont_plain
SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY amount) AS a, percentile_cont(0.5) WITHIN GROUP (ORDER BY quantity DESC) AS b, percentile_cont(array(0.25, 0.75)) WITHIN GROUP (ORDER BY tax) AS c FROM orders

-- query: percentile_disc_plain
SELECT percentile_disc(0.5) WITHIN GROUP (ORDER BY amount) AS a, percentile_disc(0.5) WITHIN GROUP (ORDER BY quantity DESC) AS b, percentile_disc(array(0.25, 0.75)) WITHIN GROUP (ORDER BY tax) AS c FROM orders

-- query: percentile_of_intervals
SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY lead_time) AS a, percentile_disc(0.5) WITHIN GROUP (ORDER BY warranty) AS b, median(lead_time) AS c, percentile(warranty, 0.5) AS d FROM products

-- query: percentile_disc_of_string
SELECT percentile_disc(0.5) WITHIN GROUP (ORDER BY status) AS a FROM orders

-- query: percentile_cont_of_string
SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY status) AS a FROM orders

-- query: percentile_cont_zero
SELECT percentile_cont(0) WITHIN GROUP (ORDER BY amount) AS a, percentile_cont(1) WITHIN GROUP (ORDER BY amount) AS b FROM orders

-- query: percentile_cont_of_text
SELECT percentile_cont('0.5') WITHIN GROUP (ORDER BY amount) AS a FROM orders

-- query: percentile_cont_of_empty_array
SELECT percentile_cont(array()) WITHIN GROUP (ORDER BY amount) AS a FROM orders

-- query: percentile_cont_with_expression
SELECT percentile_cont(0.25 + 0.25) WITHIN GROUP (ORDER BY amount * quantity) AS a FROM orders

-- query: percentile_cont_grouped
SELECT status, percentile_cont(0.5) WITHIN GROUP (ORDER BY amount) AS a, percentile_disc(0.9) WITHIN GROUP (ORDER BY quantity) AS b FROM orders GROUP BY status

-- query: percentile_cont_having
SELECT status FROM orders GROUP BY status HAVING percentile_cont(0.5) WITHIN GROUP (ORDER BY amount) > 10

-- query: percentile_cont_order_by
SELECT status FROM orders GROUP BY status ORDER BY percentile_cont(0.5) WITHIN GROUP (ORDER BY amount)

-- query: percentile_cont_filter
SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY amount) FILTER (WHERE is_gift) AS a FROM orders

-- query: percentile_disc_filter_grouped
SELECT status, percentile_disc(0.5) WITHIN GROUP (ORDER BY amount) FILTER (WHERE quantity > 2) AS a FROM orders GROUP BY status

-- query: percentile_cont_over_partition
SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY amount) OVER (PARTITION BY status) AS a FROM orders

-- query: percentile_disc_over_empty
SELECT percentile_disc(0.5) WITHIN GROUP (ORDER BY amount) OVER () AS a, percentile_cont(array(0.1, 0.9)) WITHIN GROUP (ORDER BY quantity) OVER () AS b FROM orders

-- query: percentile_cont_over_whole_frame
SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY amount) OVER (ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING) AS a FROM orders

-- query: percentile_cont_over_named_window
SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY amount) OVER w AS a FROM orders WINDOW w AS (PARTITION BY status)

-- query: median_over_partition
SELECT median(amount) OVER (PARTITION BY status) AS a, median(quantity) OVER () AS b, median(lead_time) OVER (PARTITION BY sku) AS c FROM orders CROSS JOIN products

-- query: median_over_whole_frame
SELECT median(amount) OVER (PARTITION BY status ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING) AS a FROM orders

-- query: median_distinct
SELECT median(DISTINCT amount) AS a FROM orders

-- query: median_distinct_grouped
SELECT status, median(DISTINCT quantity) AS a, count(DISTINCT note) AS b FROM orders GROUP BY status

-- query: median_filter
SELECT status, median(amount) FILTER (WHERE is_gift) AS a FROM orders GROUP BY status

-- query: median_of_string
SELECT median(status) AS a FROM orders

-- query: median_of_null
SELECT median(NULL) AS a FROM orders

-- query: median_of_median_over
SELECT status, median(median(amount)) OVER () AS a FROM orders GROUP BY status

-- query: median_of_types
SELECT median(b) AS a, median(s) AS b1, median(l) AS c, median(f) AS d1, median(d) AS e, median(d5) AS g, median(d38) AS h FROM numbers

-- query: percentile_of_types
SELECT percentile(b, 0.5) AS a, percentile(d38, 0.5) AS b1, percentile(l, array(0.5, 0.6)) AS c, percentile(f, 0) AS d1, percentile(i, 1) AS e FROM numbers

-- query: percentile_with_frequency
SELECT percentile(amount, 0.5, quantity) AS a, percentile(amount, array(0.5), 2) AS b FROM orders

-- query: percentile_of_string
SELECT percentile(status, 0.5) AS a FROM orders

-- query: percentile_over_partition
SELECT percentile(amount, 0.5) OVER (PARTITION BY status) AS a FROM orders

-- query: percentile_over_order
SELECT percentile(amount, 0.5) OVER (PARTITION BY status ORDER BY order_id) AS a FROM orders

-- query: percentile_over_ordered_frame
SELECT percentile(amount, 0.5) OVER (ORDER BY order_id ROWS 5 PRECEDING) AS a FROM orders

-- query: percentile_distinct
SELECT percentile(DISTINCT amount, 0.5) AS a FROM orders

-- query: approx_plain
SELECT percentile_approx(amount, 0.5) AS a, approx_percentile(quantity, array(0.1, 0.9)) AS b, percentile_approx(order_date, 0.5) AS c, percentile_approx(ordered_at, 0.5, 100) AS d, approx_percentile(tax, 0.5, 10) AS e FROM orders

-- query: approx_of_intervals
SELECT percentile_approx(lead_time, 0.5) AS a, percentile_approx(warranty, array(0.5)) AS b FROM products

-- query: approx_of_ntz
SELECT percentile_approx(at, 0.5) AS a FROM events

-- query: approx_of_string
SELECT percentile_approx(status, 0.5) AS a FROM orders

-- query: approx_accuracy_bigint
SELECT percentile_approx(amount, 0.5, 100L) AS a FROM orders

-- query: approx_percentage_string
SELECT percentile_approx(amount, '0.5') AS a FROM orders

-- query: approx_over_order
SELECT percentile_approx(amount, 0.5) OVER (PARTITION BY status ORDER BY order_id) AS a FROM orders

-- query: approx_over_frame
SELECT approx_percentile(amount, 0.5) OVER (ORDER BY order_id ROWS 5 PRECEDING) AS a FROM orders

-- query: approx_distinct
SELECT percentile_approx(DISTINCT amount, 0.5) AS a FROM orders

-- query: approx_filter
SELECT percentile_approx(amount, 0.5) FILTER (WHERE is_gift) AS a FROM orders

-- query: approx_of_aggregate_over
SELECT status, percentile_approx(sum(quantity), 0.5) OVER () AS a FROM orders GROUP BY status

-- query: cont_of_aggregate_over
SELECT status, percentile_cont(0.5) WITHIN GROUP (ORDER BY sum(amount)) OVER () AS a FROM orders GROUP BY status

-- query: cont_of_key_over
SELECT quantity, percentile_cont(0.5) WITHIN GROUP (ORDER BY quantity) OVER () AS a FROM orders GROUP BY quantity

-- query: mode_plain
SELECT mode(status) AS a, mode(quantity) AS b, mode(struct(status, quantity)) AS c, mode(order_date) AS d FROM orders

-- query: mode_deterministic
SELECT mode(status, true) AS a, mode(quantity, false) AS b FROM orders

-- query: mode_of_map
SELECT mode(attributes) AS a FROM products

-- query: mode_of_map_deterministic
SELECT mode(attributes, true) AS a FROM products

-- query: mode_of_variant
SELECT mode(body) AS a FROM events

-- query: mode_of_array
SELECT mode(sizes) AS a, mode(photo) AS b FROM products

-- query: mode_within_group
SELECT mode() WITHIN GROUP (ORDER BY status) AS a FROM orders

-- query: mode_within_group_desc
SELECT mode() WITHIN GROUP (ORDER BY quantity DESC) AS a, mode() WITHIN GROUP (ORDER BY order_date ASC NULLS LAST) AS b FROM orders

-- query: mode_within_group_filter
SELECT is_gift, mode() WITHIN GROUP (ORDER BY status) FILTER (WHERE quantity > 1) AS a FROM orders GROUP BY is_gift

-- query: mode_over_partition
SELECT mode(status) OVER (PARTITION BY customer_id) AS a FROM orders

-- query: mode_over_order
SELECT mode(status) OVER (ORDER BY order_id) AS a FROM orders

-- query: mode_over_frame
SELECT mode(status) OVER (ORDER BY order_id ROWS BETWEEN 5 PRECEDING AND CURRENT ROW) AS a FROM orders

-- query: mode_within_group_over
SELECT mode() WITHIN GROUP (ORDER BY status) OVER (PARTITION BY customer_id) AS a FROM orders

-- query: mode_within_group_over_order
SELECT mode() WITHIN GROUP (ORDER BY status) OVER (ORDER BY order_id) AS a FROM orders

-- query: mode_deterministic_over
SELECT mode(status, true) OVER (PARTITION BY customer_id) AS a FROM orders

-- query: listagg_plain
SELECT listagg(status) AS a, listagg(status, ',') AS b, string_agg(note, '; ') AS c FROM orders

-- query: listagg_within
SELECT listagg(status, ',') WITHIN GROUP (ORDER BY status) AS a, listagg(status) WITHIN GROUP (ORDER BY order_id DESC, amount) AS b FROM orders

-- query: listagg_distinct
SELECT listagg(DISTINCT status) AS a, listagg(DISTINCT status, ',') AS b FROM orders

-- query: listagg_distinct_within_same
SELECT listagg(DISTINCT status, ',') WITHIN GROUP (ORDER BY status DESC) AS a FROM orders

-- query: listagg_distinct_within_expression
SELECT listagg(DISTINCT upper(status), ',') WITHIN GROUP (ORDER BY upper(status)) AS a FROM orders

-- query: listagg_of_int
SELECT listagg(quantity, ',') AS a, listagg(amount) AS b, listagg(order_date, '-') AS c FROM orders

-- query: listagg_of_boolean
SELECT listagg(is_gift, ',') AS a FROM orders

-- query: listagg_of_binary
SELECT listagg(photo) AS a, listagg(photo, x'2C') AS b FROM products

-- query: listagg_delimiter_null
SELECT listagg(status, NULL) AS a FROM orders

-- query: listagg_delimiter_int
SELECT listagg(status, 1) AS a FROM orders

-- query: listagg_delimiter_expression
SELECT listagg(status, concat(',', ' ')) AS a FROM orders

-- query: listagg_of_null
SELECT listagg(NULL) AS a FROM orders

-- query: listagg_filter
SELECT is_gift, listagg(status, ',') WITHIN GROUP (ORDER BY status) FILTER (WHERE quantity > 1) AS a FROM orders GROUP BY is_gift

-- query: listagg_filter_without_within
SELECT string_agg(status, ',') FILTER (WHERE quantity > 1) AS a FROM orders

-- query: listagg_over
SELECT listagg(status, ',') OVER (PARTITION BY customer_id) AS a FROM orders

-- query: listagg_over_order
SELECT listagg(status, ',') OVER (ORDER BY order_id) AS a FROM orders

-- query: listagg_within_over
SELECT listagg(status, ',') WITHIN GROUP (ORDER BY status) OVER (PARTITION BY customer_id) AS a FROM orders

-- query: listagg_over_aggregates
SELECT is_gift, listagg(max(status), ',') OVER () AS a FROM orders GROUP BY is_gift

-- query: listagg_in_grouping_sets
SELECT is_gift, listagg(status, ',') WITHIN GROUP (ORDER BY status) AS a FROM orders GROUP BY ROLLUP (is_gift)

-- query: listagg_two_distinct_orders
SELECT listagg(DISTINCT status, ',') WITHIN GROUP (ORDER BY status) AS a, listagg(DISTINCT status, ',') WITHIN GROUP (ORDER BY status DESC) AS b, count(DISTINCT quantity) AS c FROM orders

-- query: within_group_with_subquery
SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY (SELECT max(week) FROM calendar)) AS a FROM orders

-- query: within_group_nulls_last
SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY amount NULLS LAST) AS a FROM orders

-- query: median_all
SELECT median(ALL amount) AS a FROM orders

-- query: count_distinct_filter
SELECT count(DISTINCT status) FILTER (WHERE is_gift) AS a, sum(DISTINCT quantity) FILTER (WHERE is_paid) AS b FROM orders

-- query: collect_set_distinct
SELECT collect_set(DISTINCT status) AS a, collect_list(DISTINCT quantity) AS b FROM orders

-- query: filter_on_first
SELECT first(status) FILTER (WHERE is_gift) AS a, any_value(quantity) FILTER (WHERE is_gift) AS b, max_by(status, amount) FILTER (WHERE is_gift) AS c FROM orders

-- query: filter_subquery
SELECT sum(amount) FILTER (WHERE customer_id IN (SELECT customer_id FROM customers)) AS a FROM orders

-- query: percentile_cont_pipe
FROM orders |> AGGREGATE percentile_cont(0.5) WITHIN GROUP (ORDER BY amount) AS a, median(quantity) AS b, listagg(DISTINCT status) AS c GROUP BY is_gift

-- query: listagg_distinct_int_as_string
SELECT listagg(DISTINCT quantity) WITHIN GROUP (ORDER BY CAST(quantity AS STRING)) AS a FROM orders

-- query: listagg_distinct_cast
SELECT listagg(DISTINCT CAST(quantity AS STRING)) WITHIN GROUP (ORDER BY CAST(quantity AS STRING)) AS a FROM orders

-- query: listagg_over_whole_frame
SELECT listagg(status) WITHIN GROUP (ORDER BY status) OVER (ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING) AS a FROM orders

-- query: listagg_over_frame
SELECT listagg(status) OVER (ORDER BY order_id ROWS 2 PRECEDING) AS a FROM orders

-- query: mode_within_over_frame
SELECT mode() WITHIN GROUP (ORDER BY status) OVER (ORDER BY order_id ROWS 2 PRECEDING) AS a FROM orders

-- query: percentile_over_frame_range
SELECT percentile(amount, 0.5) OVER (ORDER BY quantity RANGE 2 PRECEDING) AS a FROM orders

-- query: percentile_array_of_ints
SELECT percentile_cont(array(0, 1)) WITHIN GROUP (ORDER BY amount) AS a, percentile_approx(amount, array(0, 1)) AS b FROM orders

-- query: percentile_of_cast
SELECT percentile_cont(CAST(0.5 AS FLOAT)) WITHIN GROUP (ORDER BY amount) AS a FROM orders

-- query: listagg_having
SELECT is_gift FROM orders GROUP BY is_gift HAVING listagg(status) WITHIN GROUP (ORDER BY order_id) = 'a'

-- query: listagg_ordered_in_order_by
SELECT is_gift FROM orders GROUP BY is_gift ORDER BY listagg(status) WITHIN GROUP (ORDER BY order_id)

-- query: mode_having
SELECT is_gift FROM orders GROUP BY is_gift HAVING mode() WITHIN GROUP (ORDER BY status) = 'a'

-- query: percentile_filter_having
SELECT is_gift FROM orders GROUP BY is_gift HAVING percentile_disc(0.5) WITHIN GROUP (ORDER BY amount) FILTER (WHERE quantity > 1) > 1

-- query: ignore_nulls_on_array_agg
SELECT array_agg(status) RESPECT NULLS AS a FROM orders

-- query: distinct_first
SELECT first(DISTINCT status) AS a, max(DISTINCT quantity) AS b, bool_and(DISTINCT is_gift) AS c FROM orders

-- query: distinct_median_and_count
SELECT median(DISTINCT quantity) AS a, percentile(DISTINCT quantity, 0.5) AS b, percentile_approx(DISTINCT quantity, 0.5) AS c FROM orders

-- query: distinct_two_arguments
SELECT count(DISTINCT status, note) AS a, corr(DISTINCT quantity, tax) AS b FROM orders

-- query: distinct_star
SELECT count(DISTINCT *) AS a FROM calendar

-- query: lag_ignore_nulls_argument
SELECT lag(status, 1, 'x', true) OVER (ORDER BY order_id) AS a FROM orders

-- query: nth_value_ignore_nulls_argument
SELECT nth_value(status, 1, true) OVER (ORDER BY order_id) AS a FROM orders

-- query: any_value_ignore_nulls_both
SELECT any_value(status, true) IGNORE NULLS AS a FROM orders

-- query: nth_value_bigint
SELECT nth_value(status, 2L) OVER (ORDER BY order_id) AS a FROM orders

-- query: nth_value_numeric_string
SELECT nth_value(status, '2') OVER (ORDER BY order_id) AS a FROM orders

-- query: respect_nulls_on_collect_list
SELECT collect_list(status) RESPECT NULLS AS a FROM orders

-- query: respect_nulls_on_sum
SELECT sum(amount) RESPECT NULLS AS a FROM orders

-- query: respect_nulls_on_mode
SELECT mode(status) RESPECT NULLS AS a FROM orders

-- query: respect_nulls_on_upper
SELECT upper(status) RESPECT NULLS AS a FROM orders

-- query: respect_nulls_on_rank
SELECT rank() RESPECT NULLS OVER (ORDER BY order_id) AS a FROM orders

-- query: respect_nulls_on_collect_set
SELECT collect_set(status) RESPECT NULLS AS a FROM orders

-- query: respect_nulls_on_max_by
SELECT max_by(status, amount) RESPECT NULLS AS a FROM orders

-- query: respect_nulls_on_array_agg_over
SELECT array_agg(quantity) RESPECT NULLS OVER (PARTITION BY status) AS a FROM orders
