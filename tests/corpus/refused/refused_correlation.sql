-- query: mixed_outer_local_aggregate
SELECT c.country, (SELECT max(o.quantity + c.customer_id) FROM orders o WHERE o.customer_id = c.customer_id) AS m FROM customers c

-- query: aggregate_of_outer_in_having_mixed
SELECT country FROM customers c GROUP BY country HAVING EXISTS (SELECT 1 FROM orders o WHERE o.order_id = max(c.customer_id + o.order_id))

-- query: having_inner_outer_aggregate
SELECT country FROM customers c GROUP BY country HAVING EXISTS (SELECT o.status FROM orders o GROUP BY o.status HAVING max(o.amount) > max(c.credit_limit))

-- query: having_mixed_aggregate
SELECT country FROM customers c GROUP BY country HAVING EXISTS (SELECT o.status FROM orders o GROUP BY o.status HAVING max(o.amount + c.credit_limit) > 1)

-- query: having_scalar_correlated_not_key
SELECT country, count(*) AS n FROM customers c GROUP BY country HAVING count(*) > (SELECT count(*) FROM orders o WHERE o.status = c.email)

-- query: order_by_outer_column
SELECT c.name, (SELECT o.amount FROM orders o WHERE o.customer_id = c.customer_id ORDER BY c.credit_limit LIMIT 1) AS s FROM customers c

-- query: two_levels_out_scalar
SELECT c.name, (SELECT max((SELECT max(l.quantity) FROM order_lines l WHERE l.order_id = c.customer_id)) FROM orders o) AS m FROM customers c

-- query: in_in_order_by
SELECT name FROM customers ORDER BY customer_id IN (SELECT customer_id FROM orders)

-- query: exists_in_order_by
SELECT name FROM customers c ORDER BY EXISTS (SELECT 1 FROM orders o WHERE o.customer_id = c.customer_id)

-- query: scalar_correlated_in_order_by
SELECT name FROM customers c ORDER BY (SELECT max(o.amount) FROM orders o WHERE o.customer_id = c.customer_id)

-- query: scalar_in_group_by
SELECT count(*) AS n FROM customers c GROUP BY (SELECT max(o.amount) FROM orders o WHERE o.customer_id = c.customer_id)

-- query: scalar_correlated_beside_aggregate
SELECT country, count(*) AS n, (SELECT max(o.amount) FROM orders o WHERE o.status = c.country) AS m FROM customers c GROUP BY country

-- query: scalar_correlated_beside_aggregate_not_key
SELECT country, count(*) AS n, (SELECT max(o.amount) FROM orders o WHERE o.status = c.email) AS m FROM customers c GROUP BY country

-- query: scalar_of_aggregate_correlation
SELECT country, (SELECT max(o.amount) FROM orders o WHERE o.quantity = count(c.name)) AS m FROM customers c GROUP BY country

-- query: scalar_correlated_in_join_on
SELECT c.name FROM customers c JOIN orders o ON o.amount > (SELECT avg(x.amount) FROM orders x WHERE x.customer_id = c.customer_id)

-- query: correlated_over_window
SELECT name, (SELECT max(rank() OVER (ORDER BY o.amount)) FROM orders o WHERE o.customer_id = c.customer_id) AS r FROM customers c

-- query: correlated_window_partition
SELECT name, (SELECT first(r) FROM (SELECT rank() OVER (PARTITION BY c.country ORDER BY o.amount) AS r FROM orders o)) AS r FROM customers c

-- query: correlated_in_group_by_inside
SELECT name FROM customers c WHERE EXISTS (SELECT c.country FROM orders o GROUP BY c.country)

-- query: correlated_in_aggregate_filter
SELECT name, (SELECT count(*) FILTER (WHERE o.status = c.country) FROM orders o) AS s FROM customers c

-- query: correlated_in_lambda_inside
SELECT name, (SELECT max(size(filter(p.sizes, x -> x > c.customer_id))) FROM products p) AS s FROM customers c

-- query: correlated_in_lateral_view
SELECT name FROM customers c WHERE EXISTS (SELECT 1 FROM orders LATERAL VIEW explode(c.tags) v AS tag WHERE tag = note)

-- query: unknown_outer
SELECT name FROM customers c WHERE EXISTS (SELECT 1 FROM orders o WHERE o.customer_id = x.customer_id)

-- query: lateral_alias_in_scalar
SELECT upper(name) AS u, (SELECT max(note) FROM orders o WHERE o.note = u) AS v FROM customers c

-- query: row_in_subquery_types
SELECT name FROM customers WHERE (customer_id, signup_date) IN (SELECT customer_id, is_gift FROM orders)

-- query: in_subquery_map
SELECT sku FROM products WHERE attributes IN (SELECT attributes FROM products)

-- query: scalar_in_values
SELECT * FROM VALUES ((SELECT 1)) AS t(a)

-- query: scalar_in_lambda_body
SELECT transform(tags, t -> (SELECT max(note) FROM orders)) AS x FROM customers

-- query: any_subquery
SELECT name FROM customers WHERE customer_id = ANY (SELECT customer_id FROM orders)

-- query: all_subquery
SELECT name FROM customers WHERE customer_id > ALL (SELECT customer_id FROM orders)

-- query: lateral_right
SELECT c.name FROM customers c RIGHT JOIN LATERAL (SELECT amount FROM orders o WHERE o.customer_id = c.customer_id) t

-- query: lateral_using
SELECT c.name, customer_id FROM customers c JOIN LATERAL (SELECT amount, o.customer_id FROM orders o WHERE o.customer_id = c.customer_id) t USING (customer_id)

-- query: lateral_sees_later
SELECT c.name FROM LATERAL (SELECT c.customer_id AS x) t, customers c

-- query: lateral_values
SELECT s.name, v.k FROM staff s, LATERAL (VALUES (s.salary), (1.0)) AS v(k)

-- query: lateral_table
SELECT s.name FROM staff s, LATERAL orders o

-- query: lateral_range_of_column
SELECT s.name, r.id FROM staff s, LATERAL range(s.employee_id) r

-- query: lateral_join_condition_subquery
SELECT c.name FROM customers c JOIN LATERAL (SELECT amount FROM orders o WHERE o.customer_id = c.customer_id) t ON EXISTS (SELECT 1 FROM staff)

-- query: lateral_two_levels
SELECT c.name FROM customers c, LATERAL (SELECT o.order_id FROM orders o, LATERAL (SELECT 1 FROM order_lines l WHERE l.order_id = c.customer_id) u) t

-- query: lateral_ambiguous
SELECT t.x FROM customers c JOIN staff s ON true, LATERAL (SELECT name AS x) t

-- query: order_exists_uncorrelated
SELECT customer_id FROM customers c ORDER BY EXISTS (SELECT 1 FROM orders)

-- query: order_scalar_correlated_selected
SELECT customer_id FROM customers c ORDER BY (SELECT max(o.amount) FROM orders o WHERE o.customer_id = c.customer_id)

-- query: order_scalar_correlated_star
SELECT * FROM customers c ORDER BY (SELECT max(o.amount) FROM orders o WHERE o.customer_id = c.customer_id)

-- query: order_exists_selected
SELECT customer_id FROM customers c ORDER BY EXISTS (SELECT 1 FROM orders o WHERE o.customer_id = c.customer_id)

-- query: order_not_in
SELECT customer_id FROM customers c ORDER BY customer_id NOT IN (SELECT customer_id FROM orders)

-- query: order_group_exists
SELECT country, count(*) AS n FROM customers GROUP BY country ORDER BY EXISTS (SELECT 1 FROM orders)

-- query: join_on_scalar_left
SELECT c.name FROM customers c LEFT JOIN orders o ON o.amount > (SELECT avg(x.amount) FROM orders x WHERE x.customer_id = o.customer_id)

-- query: exists_beside_aggregate_not_key
SELECT country, EXISTS (SELECT 1 FROM orders o WHERE o.status = c.email) AS e, count(*) AS n FROM customers c GROUP BY country

-- query: case_correlated_beside
SELECT country, CASE WHEN count(*) > 1 THEN (SELECT max(o.amount) FROM orders o WHERE o.status = c.country) END AS m FROM customers c GROUP BY country

-- query: having_in_not_key
SELECT country FROM customers c GROUP BY country HAVING email IN (SELECT status FROM orders)

-- query: having_outer_aggregate_star
SELECT country FROM customers c GROUP BY country HAVING EXISTS (SELECT 1 FROM orders o WHERE o.quantity = count(*))

-- query: having_key_expression
SELECT upper(country) AS u FROM customers c GROUP BY upper(country) HAVING EXISTS (SELECT 1 FROM orders o WHERE o.status = upper(c.country))

-- query: select_outer_aggregate_beside
SELECT country, (SELECT max(c.customer_id) FROM orders o) AS m FROM customers c GROUP BY country

-- query: window_outer_order
SELECT name, (SELECT max(r) FROM (SELECT rank() OVER (ORDER BY c.credit_limit) AS r FROM orders o)) AS r FROM customers c

-- query: group_outer_expression
SELECT name FROM customers c WHERE EXISTS (SELECT count(*) FROM orders o GROUP BY o.quantity + c.customer_id)

-- query: lateral_aggregate_outer
SELECT c.name, t.r FROM customers c, LATERAL (SELECT sum(o.quantity + c.customer_id) AS r FROM orders o) t

-- query: lateral_unknown_function
SELECT c.name FROM customers c, LATERAL nothing(c.tags) t

-- query: lateral_scalar_function
SELECT c.name FROM customers c, LATERAL upper(c.name) t

-- query: scalar_compare_tuple
SELECT name FROM customers WHERE (customer_id, name) = (SELECT 1, 'x')

-- query: scalar_empty
SELECT (SELECT) AS x

-- query: in_table
SELECT name FROM staff WHERE name IN (TABLE staff)

-- query: some_subquery
SELECT name FROM customers WHERE customer_id = SOME (SELECT customer_id FROM orders)

-- query: like_any_subquery
SELECT name FROM customers WHERE name LIKE ANY (SELECT note FROM orders)

-- query: exists_equals
SELECT name FROM customers c WHERE EXISTS (SELECT 1 FROM orders) = true
