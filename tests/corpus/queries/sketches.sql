-- query: top_k
SELECT approx_top_k_estimate(approx_top_k_accumulate(status)) AS a, approx_top_k_accumulate(quantity) AS b FROM orders

-- query: bitmaps
SELECT bitmap_and_agg(x) AS a, bitmap_or_agg(x) AS b, bitmap_count(x) AS c FROM (SELECT X'01' AS x) GROUP BY x

-- query: hll
SELECT hll_union(hll_sketch_agg(quantity), hll_sketch_agg(order_id)) AS a, hll_sketch_estimate(hll_union_agg(s)) AS b FROM (SELECT quantity, order_id, hll_sketch_agg(customer_id) AS s FROM orders GROUP BY quantity, order_id)

-- query: kll
SELECT kll_sketch_get_n_bigint(kll_sketch_agg_bigint(order_id)) AS a, kll_sketch_get_quantile_bigint(kll_sketch_agg_bigint(order_id), 0.5) AS b, kll_sketch_get_quantile_double(kll_sketch_agg_double(tax), 0.5) AS c, kll_sketch_get_rank_double(kll_sketch_agg_double(tax), 1.5) AS d, kll_sketch_to_string_float(kll_sketch_agg_float(weight)) AS e, kll_sketch_merge_bigint(kll_sketch_agg_bigint(order_id), kll_sketch_agg_bigint(quantity)) AS f FROM orders

-- query: theta
SELECT theta_sketch_estimate(theta_union(theta_sketch_agg(quantity), theta_sketch_agg(status))) AS a, theta_difference(theta_sketch_agg(quantity), theta_sketch_agg(order_id)) AS b, theta_intersection(theta_sketch_agg(quantity), theta_sketch_agg(order_id)) AS c FROM orders

-- query: kll_of_arrays
SELECT kll_sketch_get_quantile_bigint(kll_sketch_agg_bigint(order_id), array(0.25, 0.75)) AS a, kll_sketch_get_rank_bigint(kll_sketch_agg_bigint(order_id), array(1L, 2L)) AS b FROM orders

-- query: reflection
SELECT java_method('java.util.UUID', 'randomUUID') AS a, reflect('java.util.UUID', 'fromString', event_id) AS b, try_reflect('java.net.URLDecoder', 'decode', '%') AS c FROM events

-- query: function_forms_of_operators
SELECT like(name, 'a%') AS a, ilike(email, 'A%') AS b, not(true) AS c, when(name = 'x', 1) AS d, when(name = 'x', 1, 2) AS e FROM customers

-- query: input_file
SELECT input_file_block_length() AS a, input_file_block_start() AS b, input_file_name() AS c, current_user() AS d FROM orders

-- query: try_make
SELECT try_make_timestamp_ltz(2024, 1, 1, 0, 0, 0) AS a, try_make_timestamp_ntz(2024, 1, 1, 0, 0, 0) AS b, try_make_timestamp(2024, 1, 1, 0, 0, 0, 'UTC') AS c
