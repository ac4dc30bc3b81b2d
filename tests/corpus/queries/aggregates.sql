-- query: sums
SELECT sum(b) AS a, sum(i) AS c, sum(l) AS e, sum(f) AS g, sum(d) AS h, sum(d5) AS j, sum(d38) AS k, sum(d380) AS m, sum(lead_time) AS n, sum(warranty) AS o FROM numbers CROSS JOIN products

-- query: averages
SELECT avg(b) AS a, avg(l) AS c, avg(f) AS e, avg(d5) AS g, avg(d20) AS h, avg(d38) AS j, mean(i) AS k, avg(lead_time) AS m, avg(warranty) AS n FROM numbers CROSS JOIN products

-- query: try_versions
SELECT try_sum(i) AS a, try_avg(d5) AS b, try_sum(d20) AS c, try_avg(lead_time) AS e FROM numbers CROSS JOIN products

-- query: string_aggregates
SELECT sum(status) AS a, avg(status) AS b, max(status) AS c, stddev(status) AS d FROM orders

-- query: extremes
SELECT min(i) AS a, max(d5) AS b, min(name) AS c, max(birth_date) AS e, max(address) AS g, min(tags) AS h, max(lead_time) AS j, min_by(name, birth_date) AS k, max_by(address, credit_limit) AS m FROM numbers CROSS JOIN customers CROSS JOIN products

-- query: firsts
SELECT first(quantity) AS a, last(status) AS b, first_value(amount) AS c, last_value(amount, true) AS d, any_value(name) AS e, first(name, true) AS f FROM orders JOIN customers USING (customer_id)

-- query: statistics
SELECT stddev(i) AS a, stddev_pop(d5) AS b, stddev_samp(f) AS c, std(l) AS e, variance(i) AS g, var_pop(d) AS h, var_samp(d5) AS j, skewness(i) AS k, kurtosis(d) AS m FROM numbers

-- query: pairs
SELECT corr(i, d) AS a, covar_pop(i, l) AS b, covar_samp(d5, d) AS c, regr_slope(i, d) AS e, regr_intercept(d, i) AS g, regr_r2(d, i) AS h, regr_count(d, i) AS j, regr_avgx(d, i) AS k, regr_avgy(d5, i) AS m, regr_sxx(d, i) AS n, regr_sxy(d, i) AS o, regr_syy(d, i) AS p FROM numbers

-- query: booleans
SELECT bool_and(is_gift) AS a, bool_or(is_paid) AS b, every(is_gift) AS c, some(is_gift) AS d, any(is_paid) AS e, count_if(is_paid) AS f FROM orders

-- query: collections
SELECT collect_list(quantity) AS a, collect_set(status) AS b, array_agg(amount) AS c, collect_list(struct(order_id, status)) AS d, collect_set(is_gift) AS e FROM orders

-- query: string_concatenation
SELECT listagg(status) AS a, listagg(status, ',') AS b, string_agg(DISTINCT note, '; ') AS c, listagg(status, ',') WITHIN GROUP (ORDER BY ordered_at) AS d, listagg(photo) AS e FROM orders CROSS JOIN products

-- query: percentiles
SELECT percentile(quantity, 0.5) AS a, percentile(amount, array(0.1, 0.9)) AS b, percentile_approx(quantity, 0.5) AS c, percentile_approx(amount, array(0.5, 0.9), 100) AS d, approx_percentile(tax, 0.25) AS e, median(amount) AS f, median(quantity) AS g FROM orders

-- query: within_group
SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY amount) AS a, percentile_disc(0.5) WITHIN GROUP (ORDER BY quantity) AS b, percentile_cont(0.9) WITHIN GROUP (ORDER BY tax DESC) AS c, mode() WITHIN GROUP (ORDER BY status) AS d, percentile_cont(0.5) WITHIN GROUP (ORDER BY lead_time) AS e FROM orders CROSS JOIN products

-- query: percentile_of_intervals
SELECT percentile(lead_time, 0.5) AS a, median(warranty) AS b, percentile_approx(lead_time, 0.5) AS c FROM products

-- query: modes
SELECT mode(status) AS a, mode(quantity) AS b, mode(amount, true) AS c FROM orders

-- query: approximate
SELECT approx_count_distinct(customer_id) AS a, approx_count_distinct(status, 0.1) AS b, hll_sketch_estimate(hll_sketch_agg(customer_id)) AS c, hll_sketch_agg(status) AS d, count_min_sketch(quantity, 0.1D, 0.9D, 1) AS e FROM orders

-- query: approx_top
SELECT approx_top_k(status) AS a, approx_top_k(quantity, 3) AS b FROM orders

-- query: histogram
SELECT histogram_numeric(quantity, 5) AS a, histogram_numeric(tax, 3) AS b, histogram_numeric(order_date, 3) AS c FROM orders

-- query: bits
SELECT bit_and(i) AS a, bit_or(l) AS b, bit_xor(b) AS c, bitmap_construct_agg(bitmap_bit_position(l)) AS e, bitmap_or_agg(x) AS g FROM numbers CROSS JOIN (SELECT X'01' AS x)

-- query: distinct_with_filter
SELECT count(DISTINCT customer_id) FILTER (WHERE is_gift) AS a, sum(DISTINCT quantity) FILTER (WHERE amount > 1) AS b FROM orders

-- query: maps
SELECT map_from_entries(collect_list(struct(status, quantity))) AS a, map_from_arrays(collect_list(order_id), collect_list(status)) AS b FROM orders

-- query: null_arguments
SELECT sum(NULL) AS a, max(NULL) AS b, count(NULL) AS c, collect_list(NULL) AS d, avg(NULL) AS e, first(NULL) AS f FROM orders

-- query: literal_arguments
SELECT sum(1) AS a, avg(1.5) AS b, max('x') AS c, sum(1.5) AS d, collect_list(1) AS e, min(DATE '2024-01-01') AS f FROM orders

-- query: over_empty_from
SELECT count(*) AS a, sum(1) AS b, max(2) AS c

-- query: dates
SELECT max(order_date) - min(order_date) AS a, max(ordered_at) - min(ordered_at) AS b, datediff(max(order_date), min(order_date)) AS c, avg(CAST(ordered_at AS DOUBLE)) AS d FROM orders

-- query: grouped_collections
SELECT customer_id, collect_list(amount)[0] AS a, size(collect_set(status)) AS b, array_join(collect_list(status), ',') AS c, sort_array(collect_list(struct(amount, order_id))) AS d, transform(collect_list(quantity), x -> x + 1) AS e FROM orders GROUP BY customer_id

-- query: theta_and_kll
SELECT theta_sketch_agg(customer_id) AS a, theta_sketch_estimate(theta_sketch_agg(status)) AS b, kll_sketch_agg_bigint(order_id) AS c, kll_sketch_agg_double(tax) AS d FROM orders

-- query: bitmap
SELECT bitmap_count(bitmap_construct_agg(bitmap_bit_position(order_id))) AS a, bitmap_bucket_number(max(order_id)) AS b FROM orders

-- query: measure_like_ratios
SELECT status, sum(amount) / nullif(count(DISTINCT customer_id), 0) AS a, avg(amount) FILTER (WHERE is_gift) / avg(amount) AS b, round(100.0 * sum(CASE WHEN is_paid THEN 1 ELSE 0 END) / count(*), 2) AS c FROM orders GROUP BY status

-- query: avg_of_timestamp
SELECT avg(ordered_at) FROM orders
