-- query: basic
SELECT status, count(*) AS n, sum(amount) AS total FROM orders GROUP BY status

-- query: global
SELECT count(*) AS n, sum(quantity) AS s, avg(amount) AS a, min(order_date) AS lo, max(ordered_at) AS hi FROM orders

-- query: ordinal
SELECT status, is_gift, count(*) AS n FROM orders GROUP BY 1, 2

-- query: by_alias
SELECT year(order_date) AS y, sum(amount) AS total FROM orders GROUP BY y

-- query: by_expression
SELECT upper(status) AS u, count(*) AS n FROM orders GROUP BY upper(status)

-- query: expression_over_group_expression
SELECT quantity + 1 AS q, (quantity + 1) * 2 AS q2, count(*) AS n FROM orders GROUP BY quantity + 1

-- query: by_all
SELECT status, is_gift, count(*) AS n, sum(amount) AS total FROM orders GROUP BY ALL

-- query: by_all_expressions
SELECT year(order_date) AS y, lower(status) AS s, max(amount) AS m FROM orders GROUP BY ALL

-- query: by_all_only_aggregates
SELECT count(*) AS n, sum(amount) AS total FROM orders GROUP BY ALL

-- query: having
SELECT customer_id, sum(amount) AS total FROM orders GROUP BY customer_id HAVING sum(amount) > 100

-- query: having_alias
SELECT customer_id, sum(amount) AS total FROM orders GROUP BY customer_id HAVING total > 100 AND count(*) > 1

-- query: having_without_group
SELECT count(*) AS n FROM orders HAVING count(*) > 10

-- query: rollup
SELECT status, is_gift, sum(amount) AS total FROM orders GROUP BY ROLLUP (status, is_gift)

-- query: cube
SELECT customer_id, is_gift, count(*) AS n FROM orders GROUP BY CUBE (customer_id, is_gift)

-- query: with_rollup
SELECT customer_id, quantity, count(*) AS n FROM orders GROUP BY customer_id, quantity WITH ROLLUP

-- query: with_cube
SELECT customer_id, count(*) AS n FROM orders GROUP BY customer_id WITH CUBE

-- query: grouping_sets
SELECT customer_id, is_gift, count(*) AS n FROM orders GROUP BY GROUPING SETS ((customer_id, is_gift), (customer_id), ())

-- query: grouping_sets_with_common_column
SELECT customer_id, is_gift, quantity, count(*) AS n FROM orders GROUP BY GROUPING SETS ((customer_id, is_gift), (customer_id, quantity))

-- query: grouping_sets_after_columns
SELECT customer_id, is_gift, count(*) AS n FROM orders GROUP BY customer_id, is_gift GROUPING SETS ((customer_id), (customer_id, is_gift))

-- query: mixed_grouping
SELECT customer_id, quantity, is_gift, count(*) AS n FROM orders GROUP BY customer_id, ROLLUP (quantity, is_gift)

-- query: rollup_and_cube
SELECT customer_id, quantity, is_gift, count(*) AS n FROM orders GROUP BY ROLLUP (customer_id), CUBE (quantity, is_gift)

-- query: nested_grouping_sets
SELECT customer_id, quantity, is_gift, count(*) AS n FROM orders GROUP BY GROUPING SETS (ROLLUP (customer_id, quantity), (is_gift))

-- query: rollup_composite
SELECT customer_id, quantity, is_gift, count(*) AS n FROM orders GROUP BY ROLLUP ((customer_id, quantity), is_gift)

-- query: grouping_functions
SELECT status, is_gift, grouping(status) AS g1, grouping_id() AS g2, grouping_id(status, is_gift) AS g3, count(*) AS n FROM orders GROUP BY CUBE (status, is_gift)

-- query: grouping_in_expression
SELECT CASE WHEN grouping(customer_id) = 1 THEN 'all' ELSE CAST(customer_id AS STRING) END AS label, sum(amount) AS s FROM orders GROUP BY ROLLUP (customer_id)

-- query: grouping_in_having_and_order
SELECT customer_id, sum(amount) AS s FROM orders GROUP BY ROLLUP (customer_id) HAVING grouping(customer_id) = 0 ORDER BY grouping_id(customer_id), s

-- query: rollup_over_expression
SELECT year(order_date) AS y, count(*) AS n FROM orders GROUP BY ROLLUP (year(order_date))

-- query: rollup_by_ordinal
SELECT customer_id, is_gift, count(*) AS n FROM orders GROUP BY ROLLUP (1, 2)

-- query: group_by_literal_column
SELECT 'x' AS label, customer_id, count(*) AS n FROM orders GROUP BY customer_id

-- query: group_by_struct_field
SELECT address.city, count(*) AS n FROM customers GROUP BY address.city

-- query: group_by_struct
SELECT address, count(*) AS n FROM customers GROUP BY address

-- query: group_by_array
SELECT tags, count(*) AS n FROM customers GROUP BY tags

-- query: field_of_grouped_struct
SELECT address.city AS city, count(*) AS n FROM customers GROUP BY address

-- query: aggregate_of_expression
SELECT sum(quantity * amount) AS a, avg(quantity + 1) AS b, max(coalesce(discount, 0)) AS c, sum(CASE WHEN is_gift THEN 1 ELSE 0 END) AS d FROM orders

-- query: expression_of_aggregates
SELECT sum(amount) / count(*) AS a, sum(amount) * 100 / sum(quantity) AS b, max(amount) - min(amount) AS c, round(avg(tax), 2) AS d FROM orders

-- query: distinct_aggregates
SELECT count(DISTINCT customer_id) AS a, count(DISTINCT status, is_gift) AS b, sum(DISTINCT quantity) AS c, avg(DISTINCT amount) AS d, collect_list(DISTINCT status) AS e FROM orders

-- query: filter
SELECT count(*) FILTER (WHERE is_gift) AS a, sum(amount) FILTER (WHERE status = 'x') AS b, avg(tax) FILTER (WHERE quantity > 1 AND is_paid) AS c FROM orders

-- query: group_by_boolean_expression
SELECT amount > 100 AS big, count(*) AS n FROM orders GROUP BY amount > 100

-- query: no_aggregates
SELECT status FROM orders GROUP BY status

-- query: group_key_not_selected
SELECT count(*) AS n FROM orders GROUP BY status

-- query: group_by_qualified
SELECT o.status, c.country, sum(o.amount) AS s FROM orders o JOIN customers c ON o.customer_id = c.customer_id GROUP BY o.status, c.country

-- query: group_by_using_key
SELECT customer_id, count(*) AS n FROM orders JOIN customers USING (customer_id) GROUP BY customer_id

-- query: aggregates_in_order_by
SELECT status FROM orders GROUP BY status ORDER BY count(*) DESC, max(amount)

-- query: having_on_group_key
SELECT customer_id FROM orders GROUP BY customer_id HAVING customer_id > 5

-- query: date_grouping
SELECT date_trunc('MONTH', ordered_at) AS month, sum(amount) AS total FROM orders GROUP BY date_trunc('MONTH', ordered_at)

-- query: grouped_window_function
SELECT window.start AS start, window.end AS end, count(*) AS n FROM orders GROUP BY window(ordered_at, '1 hour')

-- query: sliding_window
SELECT window, sum(amount) AS s FROM orders GROUP BY window(ordered_at, '1 hour', '15 minutes')

-- query: session_window
SELECT session_window, customer_id, count(*) AS n FROM events GROUP BY session_window(received, '10 minutes'), customer_id

-- query: window_of_ntz
SELECT window(at, '1 day') AS w, count(*) AS n FROM events GROUP BY window(at, '1 day')

-- query: count_forms
SELECT count(*) AS a, count(1) AS b, count(status) AS c, count(NULL) AS d, count(status, note) AS e, count_if(is_gift) AS f FROM orders

-- query: group_by_constant_alias
SELECT 1 AS one, count(*) AS n FROM orders GROUP BY one

-- query: having_of_a_count
SELECT status FROM orders GROUP BY status HAVING count(*)

-- query: group_by_map
SELECT attributes FROM products GROUP BY attributes
