-- query: rollup_nullability
SELECT order_date, is_gift, quantity, count(*) AS n FROM orders GROUP BY ROLLUP (order_date, is_gift, quantity)

-- query: cube_nullability
SELECT order_date, is_gift, max(quantity) AS m FROM orders GROUP BY CUBE (order_date, is_gift)

-- query: sets_nullability
SELECT order_date, is_gift, quantity, count(*) AS n FROM orders GROUP BY GROUPING SETS ((order_date, is_gift), (order_date, quantity))

-- query: sets_always_present
SELECT order_date, is_gift, count(*) AS n FROM orders GROUP BY GROUPING SETS ((order_date, is_gift), (order_date))

-- query: sets_single
SELECT order_date, count(*) AS n FROM orders GROUP BY GROUPING SETS ((order_date))

-- query: sets_without_parentheses
SELECT order_date, is_gift, count(*) AS n FROM orders GROUP BY GROUPING SETS (order_date, is_gift)

-- query: sets_empty_only
SELECT count(*) AS n FROM orders GROUP BY GROUPING SETS (())

-- query: sets_twice_the_same
SELECT status, count(*) AS n FROM orders GROUP BY GROUPING SETS ((status), (status))

-- query: sets_nested
SELECT status, is_gift, count(*) AS n FROM orders GROUP BY GROUPING SETS (GROUPING SETS ((status), (is_gift)), ())

-- query: sets_of_rollup
SELECT status, is_gift, quantity, count(*) AS n FROM orders GROUP BY GROUPING SETS (ROLLUP (status, is_gift), quantity)

-- query: sets_of_cube
SELECT status, is_gift, count(*) AS n FROM orders GROUP BY GROUPING SETS (CUBE (status, is_gift))

-- query: rollup_of_pairs
SELECT status, is_gift, quantity, count(*) AS n FROM orders GROUP BY ROLLUP ((status, is_gift), quantity)

-- query: cube_of_pairs
SELECT status, is_gift, quantity, count(*) AS n FROM orders GROUP BY CUBE ((status, is_gift), (quantity))

-- query: rollup_and_key
SELECT status, is_gift, quantity, count(*) AS n FROM orders GROUP BY quantity, ROLLUP (status, is_gift)

-- query: rollup_and_cube
SELECT status, is_gift, quantity, count(*) AS n FROM orders GROUP BY ROLLUP (status), CUBE (is_gift, quantity)

-- query: rollup_and_same_key
SELECT quantity, is_gift, count(*) AS n FROM orders GROUP BY quantity, ROLLUP (quantity, is_gift)

-- query: with_rollup
SELECT status, is_gift, count(*) AS n FROM orders GROUP BY status, is_gift WITH ROLLUP

-- query: with_cube
SELECT status, is_gift, count(*) AS n FROM orders GROUP BY status, is_gift WITH CUBE

-- query: hive_grouping_sets
SELECT status, is_gift, count(*) AS n FROM orders GROUP BY status, is_gift GROUPING SETS ((status, is_gift), (status))

-- query: hive_grouping_sets_of_other
SELECT status, is_gift, count(*) AS n FROM orders GROUP BY status GROUPING SETS ((status), (is_gift))

-- query: hive_grouping_sets_of_unselected
SELECT status, count(*) AS n FROM orders GROUP BY status, quantity GROUPING SETS ((status), (quantity))

-- query: hive_grouping_sets_nullability
SELECT order_date, quantity, count(*) AS n FROM orders GROUP BY order_date, quantity GROUPING SETS ((order_date), (order_date, quantity))

-- query: hive_grouping_sets_of_expression
SELECT upper(status) AS u, count(*) AS n FROM orders GROUP BY upper(status), is_gift GROUPING SETS ((upper(status)), (is_gift))

-- query: hive_grouping_sets_by_position
SELECT status, is_gift, count(*) AS n FROM orders GROUP BY 1, 2 GROUPING SETS ((1), (2))

-- query: hive_grouping_sets_by_alias
SELECT status AS s, is_gift AS g, count(*) AS n FROM orders GROUP BY s, g GROUPING SETS ((s), (g))

-- query: expression_in_rollup
SELECT year(order_date) AS y, month(order_date) AS m, count(*) AS n FROM orders GROUP BY ROLLUP (year(order_date), month(order_date))

-- query: expression_over_rollup_key
SELECT quantity + 1 AS q, count(*) AS n FROM orders GROUP BY ROLLUP (quantity)

-- query: expression_nullability_over_rollup
SELECT coalesce(status, 'all') AS s, coalesce(order_date, DATE '2020-01-01') AS d, quantity IS NULL AS q FROM orders GROUP BY ROLLUP (status, order_date, quantity)

-- query: aggregate_of_rollup_key
SELECT quantity, sum(quantity) AS s, max(order_date) AS m, count(quantity) AS c, first(order_date) AS f FROM orders GROUP BY ROLLUP (quantity, order_date)

-- query: grouping_of_key
SELECT status, grouping(status) AS g FROM orders GROUP BY ROLLUP (status)

-- query: grouping_of_expression
SELECT upper(status) AS u, grouping(upper(status)) AS g FROM orders GROUP BY CUBE (upper(status))

-- query: grouping_of_plain_key
SELECT status, is_gift, grouping(is_gift) AS g FROM orders GROUP BY is_gift, ROLLUP (status)

-- query: grouping_in_having
SELECT status, count(*) AS n FROM orders GROUP BY CUBE (status) HAVING grouping(status) = 1

-- query: grouping_in_order_by
SELECT status, count(*) AS n FROM orders GROUP BY CUBE (status) ORDER BY grouping(status), status

-- query: grouping_in_aggregate
SELECT status, sum(grouping(status)) AS g FROM orders GROUP BY CUBE (status)

-- query: grouping_in_case
SELECT CASE WHEN grouping(status) = 1 THEN 'total' ELSE status END AS s, count(*) AS n FROM orders GROUP BY ROLLUP (status)

-- query: grouping_id_plain
SELECT status, is_gift, grouping_id() AS g FROM orders GROUP BY CUBE (status, is_gift)

-- query: grouping_id_of_keys
SELECT status, is_gift, grouping_id(status, is_gift) AS g FROM orders GROUP BY CUBE (status, is_gift)

-- query: grouping_id_in_having
SELECT status, count(*) AS n FROM orders GROUP BY CUBE (status, is_gift) HAVING grouping_id() > 0

-- query: grouping_id_in_order_by
SELECT status, count(*) AS n FROM orders GROUP BY CUBE (status, is_gift) ORDER BY grouping_id()

-- query: grouping_id_of_sets
SELECT status, is_gift, grouping_id() AS g FROM orders GROUP BY GROUPING SETS ((status), (is_gift))

-- query: grouping_id_of_sets_in_order_of_appearance
SELECT grouping_id(status, is_gift) AS g FROM orders GROUP BY GROUPING SETS ((status), (is_gift, status))

-- query: grouping_id_hidden
SELECT status, grouping__id FROM orders GROUP BY CUBE (status)

-- query: window_in_rollup_key
SELECT count(*) AS n FROM orders GROUP BY ROLLUP (row_number() OVER (ORDER BY order_id))

-- query: subquery_in_rollup_key
SELECT count(*) AS n FROM orders GROUP BY ROLLUP ((SELECT max(week) FROM calendar))

-- query: literal_in_rollup
SELECT 'x' AS x, count(*) AS n FROM orders GROUP BY ROLLUP ('x')

-- query: null_in_rollup
SELECT count(*) AS n FROM orders GROUP BY ROLLUP (NULL)

-- query: map_in_rollup
SELECT attributes, count(*) AS n FROM products GROUP BY ROLLUP (attributes)

-- query: struct_field_in_rollup
SELECT address.city, loyalty.tier, count(*) AS n FROM customers GROUP BY ROLLUP (address.city, loyalty.tier)

-- query: struct_in_rollup_field_selected
SELECT address.city AS c, count(*) AS n FROM customers GROUP BY ROLLUP (address)

-- query: struct_in_rollup_selected
SELECT address, count(*) AS n FROM customers GROUP BY ROLLUP (address)

-- query: struct_made_of_keys
SELECT struct(status, is_gift) AS s, count(*) AS n FROM orders GROUP BY CUBE (status, is_gift)

-- query: array_made_of_keys
SELECT array(quantity) AS s, count(*) AS n FROM orders GROUP BY CUBE (quantity)

-- query: star_in_rollup
SELECT * FROM calendar GROUP BY ROLLUP (day, week, month, quarter, is_holiday, label)

-- query: distinct_aggregate_in_cube
SELECT status, count(DISTINCT customer_id) AS c, sum(DISTINCT quantity) AS q, avg(amount) AS a FROM orders GROUP BY CUBE (status)

-- query: filter_in_cube
SELECT status, count(*) FILTER (WHERE is_gift) AS c FROM orders GROUP BY CUBE (status, is_gift)

-- query: filter_of_grouping_in_cube
SELECT status, count(*) FILTER (WHERE grouping(status) = 0) AS c FROM orders GROUP BY CUBE (status)

-- query: lateral_alias_in_cube
SELECT status AS s, concat(s, '!') AS t, count(*) AS n, n + 1 AS m FROM orders GROUP BY CUBE (status)

-- query: lateral_alias_of_grouping
SELECT status, grouping(status) AS g, g + 1 AS h FROM orders GROUP BY CUBE (status)

-- query: cube_of_join
SELECT c.country, o.status, sum(o.amount) AS s FROM orders o JOIN customers c ON o.customer_id = c.customer_id GROUP BY CUBE (c.country, o.status)

-- query: cube_of_using_key
SELECT customer_id, country, count(*) AS n FROM orders JOIN customers USING (customer_id) GROUP BY CUBE (customer_id, country)

-- query: cube_qualified_differently
SELECT o.status, count(*) AS n FROM orders o GROUP BY CUBE (status)

-- query: cube_in_subquery
SELECT s, n FROM (SELECT status AS s, quantity AS q, count(*) AS n FROM orders GROUP BY CUBE (status, quantity)) WHERE q IS NULL

-- query: cube_in_subquery_nullability
SELECT * FROM (SELECT order_date AS d, quantity AS q, count(*) AS n FROM orders GROUP BY CUBE (order_date, quantity))

-- query: cube_in_cte_joined
WITH c AS (SELECT customer_id, order_date, sum(amount) AS s FROM orders GROUP BY ROLLUP (customer_id, order_date)) SELECT c.customer_id, c.order_date, c.s, u.name FROM c JOIN customers u ON u.customer_id = c.customer_id

-- query: cube_union
SELECT order_date, count(*) AS n FROM orders GROUP BY ROLLUP (order_date) UNION ALL SELECT day, week FROM calendar

-- query: cube_distinct
SELECT DISTINCT status, count(*) AS n FROM orders GROUP BY CUBE (status)

-- query: window_over_cube
SELECT status, is_gift, sum(amount) AS s, rank() OVER (PARTITION BY grouping_id() ORDER BY sum(amount)) AS r FROM orders GROUP BY CUBE (status, is_gift)

-- query: median_in_cube
SELECT status, median(amount) AS m, mode(quantity) AS o, percentile_cont(0.5) WITHIN GROUP (ORDER BY tax) AS p FROM orders GROUP BY CUBE (status)

-- query: decimal_key_in_cube
SELECT amount, amount * 2 AS d, -amount AS m, count(*) AS n FROM orders GROUP BY CUBE (amount)

-- query: boolean_key_in_cube
SELECT is_gift, NOT is_gift AS ng, is_gift AND true AS a, count(*) AS n FROM orders GROUP BY CUBE (is_gift)

-- query: key_twice_in_cube
SELECT quantity, count(*) AS n FROM orders GROUP BY CUBE (quantity, quantity)

-- query: key_and_expression_in_cube
SELECT quantity, quantity + 1 AS q, count(*) AS n FROM orders GROUP BY CUBE (quantity, quantity + 1)

-- query: cube_too_wide
SELECT count(*) AS n FROM orders GROUP BY CUBE (order_id, customer_id, status, amount, discount, tax, quantity, priority)

-- query: not_null_key_in_all_sets
SELECT quantity, status, count(*) AS n FROM orders GROUP BY GROUPING SETS ((quantity, status), (quantity, is_gift), (quantity))

-- query: not_null_key_hidden_by_pairs
SELECT quantity, order_date, count(*) AS n FROM orders GROUP BY quantity, GROUPING SETS ((order_date), ())

-- query: having_alias_in_cube
SELECT status, count(*) AS n FROM orders GROUP BY CUBE (status) HAVING n > 1 AND status IS NULL

-- query: grouping_qualified
SELECT o.status, grouping(o.status) AS g, grouping(status) AS h FROM orders o GROUP BY ROLLUP (status)
