-- query: ranking
SELECT row_number() OVER (ORDER BY amount) AS a, rank() OVER (PARTITION BY status ORDER BY amount) AS b, dense_rank() OVER (ORDER BY amount DESC) AS c, percent_rank() OVER (ORDER BY amount) AS d, cume_dist() OVER (ORDER BY amount) AS e, ntile(4) OVER (ORDER BY amount) AS f FROM orders

-- query: offsets
SELECT lag(amount) OVER (ORDER BY order_date) AS a, lead(amount, 2) OVER (ORDER BY order_date) AS b, lag(amount, 1, 0) OVER (ORDER BY order_date) AS c, lead(quantity, 1, 0) OVER (ORDER BY order_date) AS d, lag(status, 1, 'x') OVER (ORDER BY order_date) AS e, lag(quantity, 1, 2.5) OVER (ORDER BY order_date) AS f FROM orders

-- query: values_of_frame
SELECT first_value(amount) OVER w AS a, last_value(status) OVER w AS b, nth_value(quantity, 2) OVER w AS c, first(amount, true) OVER w AS d, any_value(status) OVER w AS e FROM orders WINDOW w AS (PARTITION BY customer_id ORDER BY ordered_at)

-- query: ignore_nulls
SELECT lag(status) IGNORE NULLS OVER w AS a, first_value(status) IGNORE NULLS OVER w AS b, last_value(note) RESPECT NULLS OVER w AS c, nth_value(status, 2) IGNORE NULLS OVER w AS d, lead(status, 1) IGNORE NULLS OVER w AS e FROM orders WINDOW w AS (ORDER BY ordered_at)

-- query: aggregates
SELECT sum(amount) OVER (PARTITION BY customer_id) AS a, avg(quantity) OVER (ORDER BY order_date) AS b, count(*) OVER () AS c, max(order_date) OVER (PARTITION BY status) AS d, min(status) OVER () AS e, collect_list(quantity) OVER (PARTITION BY customer_id) AS f, count(note) OVER () AS g FROM orders

-- query: rows_frames
SELECT sum(amount) OVER (ORDER BY order_date ROWS BETWEEN 2 PRECEDING AND CURRENT ROW) AS a, sum(amount) OVER (ORDER BY order_date ROWS UNBOUNDED PRECEDING) AS b, avg(tax) OVER (ORDER BY order_date ROWS BETWEEN 1 PRECEDING AND 1 FOLLOWING) AS c, max(quantity) OVER (ORDER BY order_date ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING) AS d FROM orders

-- query: range_frames
SELECT sum(amount) OVER (ORDER BY quantity RANGE BETWEEN 5 PRECEDING AND CURRENT ROW) AS a, count(*) OVER (ORDER BY order_date RANGE BETWEEN INTERVAL 7 DAYS PRECEDING AND CURRENT ROW) AS b, sum(quantity) OVER (ORDER BY ordered_at RANGE BETWEEN INTERVAL '1' HOUR PRECEDING AND INTERVAL '1' HOUR FOLLOWING) AS c, sum(quantity) OVER (ORDER BY order_date RANGE BETWEEN 3 PRECEDING AND 3 FOLLOWING) AS d FROM orders

-- query: range_of_decimal_and_double
SELECT sum(quantity) OVER (ORDER BY amount RANGE BETWEEN 1.5 PRECEDING AND CURRENT ROW) AS a, sum(quantity) OVER (ORDER BY tax RANGE BETWEEN 1D PRECEDING AND 2D FOLLOWING) AS b FROM orders

-- query: named_windows
SELECT sum(amount) OVER w AS a, rank() OVER w2 AS b, avg(tax) OVER (w) AS c FROM orders WINDOW w AS (PARTITION BY status), w2 AS (PARTITION BY status ORDER BY amount)

-- query: window_from_another_window
SELECT sum(amount) OVER w2 AS a FROM orders WINDOW w AS (PARTITION BY status ORDER BY amount), w2 AS w

-- query: over_aggregates
SELECT status, sum(amount) AS total, sum(sum(amount)) OVER () AS grand, rank() OVER (ORDER BY sum(amount) DESC) AS r, sum(amount) / sum(sum(amount)) OVER () AS share FROM orders GROUP BY status

-- query: in_expression
SELECT amount - lag(amount) OVER (PARTITION BY customer_id ORDER BY ordered_at) AS delta, amount / sum(amount) OVER (PARTITION BY customer_id) AS share, coalesce(lag(status) OVER (ORDER BY order_id), 'first') AS previous FROM orders

-- query: top_one_per_group
SELECT * FROM (SELECT order_id, customer_id, amount, row_number() OVER (PARTITION BY customer_id ORDER BY amount DESC) AS rn FROM orders) WHERE rn = 1

-- query: qualify_like_by_cte
WITH ranked AS (SELECT *, dense_rank() OVER (PARTITION BY category ORDER BY price DESC) AS r FROM products) SELECT product_id, category, price FROM ranked WHERE r <= 3

-- query: several_orders
SELECT rank() OVER (PARTITION BY status, is_gift ORDER BY amount DESC NULLS LAST, order_id) AS r FROM orders

-- query: partition_by_expression
SELECT sum(amount) OVER (PARTITION BY year(order_date), upper(status) ORDER BY month(order_date)) AS s FROM orders

-- query: statistics
SELECT stddev(amount) OVER w AS a, variance(tax) OVER w AS b, corr(quantity, tax) OVER w AS c, percentile_approx(amount, 0.5) OVER w AS d, median(quantity) OVER w AS e FROM orders WINDOW w AS (PARTITION BY status)

-- query: distribute_sort_synonyms
SELECT sum(amount) OVER (DISTRIBUTE BY status SORT BY order_date) AS a, count(*) OVER (CLUSTER BY status) AS b FROM orders

-- query: literal_windows
SELECT sum(1) OVER () AS a, lag(1) OVER (ORDER BY order_id) AS b, count(DISTINCT 1) AS c FROM (SELECT 1 AS order_id) GROUP BY order_id

-- query: nested_struct_in_window
SELECT max(struct(amount, order_id)) OVER (PARTITION BY customer_id) AS top, max(struct(amount, order_id)) OVER (PARTITION BY customer_id).order_id AS top_order FROM orders

-- query: window_over_not_null_lag_default_column
SELECT lag(quantity, 1, quantity) OVER (ORDER BY order_id) AS a, lag(status, 1, note) OVER (ORDER BY order_id) AS b, lead(order_date, 1, DATE '9999-12-31') OVER (ORDER BY order_id) AS c FROM orders

-- query: sessionisation
SELECT customer_id, sum(is_new) OVER (PARTITION BY customer_id ORDER BY at) AS session FROM (SELECT customer_id, at, CASE WHEN at - lag(at) OVER (PARTITION BY customer_id ORDER BY at) > INTERVAL 30 MINUTES THEN 1 ELSE 0 END AS is_new FROM events)

-- query: running_totals
SELECT day, sum(n) OVER (ORDER BY day) AS running, avg(n) OVER (ORDER BY day ROWS BETWEEN 6 PRECEDING AND CURRENT ROW) AS weekly FROM (SELECT order_date AS day, count(*) AS n FROM orders GROUP BY order_date)

-- query: frame_bounds_reversed
SELECT sum(amount) OVER (ORDER BY order_id ROWS BETWEEN CURRENT ROW AND 2 PRECEDING) FROM orders

-- query: nested_window
SELECT sum(row_number() OVER (ORDER BY order_id)) OVER () FROM orders
