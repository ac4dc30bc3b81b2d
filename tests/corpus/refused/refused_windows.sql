-- query: filter
SELECT count(*) FILTER (WHERE is_gift) OVER (PARTITION BY status) AS a, sum(amount) FILTER (WHERE quantity > 1) OVER () AS b FROM orders

-- query: ranking_without_order
SELECT row_number() OVER (PARTITION BY status) FROM orders

-- query: lag_without_order
SELECT lag(amount) OVER () FROM orders

-- query: scalar_function_over
SELECT upper(status) OVER (ORDER BY order_id) FROM orders

-- query: ranking_without_over
SELECT row_number() FROM orders

-- query: rank_with_frame
SELECT rank() OVER (ORDER BY amount ROWS BETWEEN 1 PRECEDING AND CURRENT ROW) FROM orders

-- query: range_frame_over_string
SELECT sum(amount) OVER (ORDER BY status RANGE BETWEEN 1 PRECEDING AND CURRENT ROW) FROM orders

-- query: range_frame_over_two_keys
SELECT sum(amount) OVER (ORDER BY quantity, order_id RANGE BETWEEN 1 PRECEDING AND CURRENT ROW) FROM orders

-- query: range_frame_without_order
SELECT sum(amount) OVER (RANGE BETWEEN 1 PRECEDING AND CURRENT ROW) FROM orders

-- query: rows_frame_of_string
SELECT sum(amount) OVER (ORDER BY order_id ROWS BETWEEN 'a' PRECEDING AND CURRENT ROW) FROM orders

-- query: frame_bound_not_constant
SELECT sum(amount) OVER (ORDER BY order_id ROWS BETWEEN quantity PRECEDING AND CURRENT ROW) FROM orders

-- query: distinct_aggregate_over
SELECT count(DISTINCT status) OVER (PARTITION BY customer_id) FROM orders

-- query: partition_by_map
SELECT count(*) OVER (PARTITION BY attributes) FROM products

-- query: order_by_map
SELECT row_number() OVER (ORDER BY attributes) FROM products

-- query: lag_offset_not_constant
SELECT lag(amount, quantity) OVER (ORDER BY order_id) FROM orders

-- query: lag_default_of_wrong_type
SELECT lag(order_date, 1, 5) OVER (ORDER BY order_id) FROM orders

-- query: ignore_nulls_on_sum
SELECT sum(amount) IGNORE NULLS OVER (ORDER BY order_id) FROM orders

-- query: nth_value_zero
SELECT nth_value(amount, 0) OVER (ORDER BY order_id) FROM orders

-- query: ntile_zero
SELECT ntile(0) OVER (ORDER BY order_id) FROM orders

-- query: duplicate_window_names
SELECT sum(amount) OVER w FROM orders WINDOW w AS (PARTITION BY status), w AS (PARTITION BY is_gift)

-- query: window_over_ungrouped_column
SELECT status, sum(amount) OVER () FROM orders GROUP BY status
