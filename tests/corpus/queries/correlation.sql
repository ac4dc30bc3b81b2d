-- query: aggregate_of_outer_in_having
SELECT country FROM customers c GROUP BY country HAVING EXISTS (SELECT 1 FROM orders o WHERE o.order_id = max(c.customer_id))

-- query: having_scalar
SELECT country, count(*) AS n FROM customers GROUP BY country HAVING count(*) > (SELECT avg(quantity) FROM orders)

-- query: order_by_inside_scalar
SELECT c.name, (SELECT o.amount FROM orders o WHERE o.customer_id = c.customer_id ORDER BY o.ordered_at DESC LIMIT 1) AS latest FROM customers c

-- query: scalar_correlated_distinct
SELECT c.name, (SELECT DISTINCT o.amount FROM orders o WHERE o.customer_id = c.customer_id) AS one FROM customers c

-- query: scalar_correlated_inequality
SELECT c.name, (SELECT count(*) FROM orders o WHERE o.customer_id > c.customer_id) AS s FROM customers c

-- query: offset_inside
SELECT c.name FROM customers c WHERE EXISTS (SELECT 1 FROM orders o WHERE o.customer_id = c.customer_id OFFSET 2)

-- query: scalar_in_order_by
SELECT name FROM customers c ORDER BY (SELECT max(amount) FROM orders)

-- query: in_nullable_in_select
SELECT name, customer_id IN (SELECT region_code FROM orders) AS has FROM customers

-- query: exists_in_case
SELECT CASE WHEN EXISTS (SELECT 1 FROM orders o WHERE o.customer_id = c.customer_id) THEN 'y' ELSE 'n' END AS has FROM customers c

-- query: scalar_in_aggregate
SELECT sum((SELECT max(o.amount) FROM orders o WHERE o.customer_id = c.customer_id)) AS n FROM customers c

-- query: in_in_group_by
SELECT count(*) AS n FROM customers c GROUP BY customer_id IN (SELECT customer_id FROM orders)

-- query: exists_in_join_on_both
SELECT c.name FROM customers c JOIN orders o ON EXISTS (SELECT 1 FROM order_lines l WHERE l.order_id = o.order_id AND l.quantity = c.customer_id)

-- query: exists_in_full_join_on
SELECT c.name FROM customers c FULL JOIN orders o ON o.customer_id = c.customer_id AND EXISTS (SELECT 1 FROM order_lines l WHERE l.order_id = o.order_id)

-- query: exists_of_outer_column
SELECT name FROM customers c WHERE EXISTS (SELECT c.name FROM orders o)

-- query: scalar_of_outer_column
SELECT name, (SELECT c.name) AS n2 FROM customers c

-- query: scalar_count_nullable
SELECT (SELECT count(*) FROM orders) AS n

-- query: scalar_not_null_column
SELECT (SELECT order_id FROM orders LIMIT 1) AS n

-- query: scalar_of_union_correlated
SELECT (SELECT max(x) FROM (SELECT c.customer_id AS x UNION ALL SELECT 2)) AS n FROM customers c

-- query: exists_with_cte
SELECT name FROM customers c WHERE EXISTS (WITH t AS (SELECT customer_id FROM orders) SELECT 1 FROM t WHERE t.customer_id = c.customer_id)

-- query: correlated_in_left_join_inside
SELECT name, (SELECT count(*) FROM orders o LEFT JOIN order_lines l ON l.order_id = o.order_id AND l.quantity = c.customer_id) AS r FROM customers c

-- query: correlated_in_intersect_inside
SELECT name FROM customers c WHERE EXISTS (SELECT o.order_id FROM orders o WHERE o.customer_id = c.customer_id INTERSECT SELECT l.order_id FROM order_lines l)

-- query: correlated_in_generator_inside
SELECT name FROM customers c WHERE EXISTS (SELECT 1 FROM explode(c.tags) AS t(tag) WHERE tag = 'x')

-- query: inner_shadows_outer
SELECT name FROM customers c WHERE EXISTS (SELECT 1 FROM orders WHERE customer_id = customer_id)

-- query: in_subquery_coerced
SELECT name FROM customers WHERE country IN (SELECT quantity FROM orders)

-- query: in_subquery_correlated_two
SELECT name FROM customers c WHERE customer_id IN (SELECT o.customer_id FROM orders o WHERE o.status = c.country OR o.note = c.email)

-- query: exists_aggregate_limit
SELECT name FROM customers c WHERE EXISTS (SELECT max(o.amount) FROM orders o WHERE o.customer_id = c.customer_id LIMIT 1)

-- query: scalar_in_in_list
SELECT name FROM customers c WHERE credit_limit IN ((SELECT min(amount) FROM orders), 1)

-- query: scalar_in_window_order
SELECT sum(amount) OVER (ORDER BY (SELECT max(name) FROM staff)) AS s FROM orders

-- query: scalar_correlated_in_distinct
SELECT DISTINCT (SELECT max(o.amount) FROM orders o WHERE o.customer_id = c.customer_id) AS m FROM customers c

-- query: lateral_simple
SELECT c.name, t.amount FROM customers c, LATERAL (SELECT amount FROM orders o WHERE o.customer_id = c.customer_id) t

-- query: lateral_left_on_outer
SELECT c.name, t.amount FROM customers c LEFT JOIN LATERAL (SELECT amount FROM orders o WHERE o.customer_id = c.customer_id) t ON t.amount > c.credit_limit

-- query: lateral_first
SELECT t.x FROM LATERAL (SELECT 1 AS x) t

-- query: lateral_of_outer
SELECT c.name, t.u, v.w FROM customers c, LATERAL (SELECT upper(c.name) AS u) t, LATERAL (SELECT t.u || 'x' AS w) v

-- query: lateral_function
SELECT c.name, t.tag FROM customers c, LATERAL explode(c.tags) AS t(tag)

-- query: lateral_posexplode
SELECT c.name, t.pos, t.col FROM customers c, LATERAL posexplode(c.tags) t

-- query: lateral_inner_first
SELECT t.x FROM customers c, LATERAL (SELECT name AS x FROM staff) t

-- query: order_alias_of_exists
SELECT EXISTS (SELECT 1 FROM orders) AS e FROM customers c ORDER BY e

-- query: join_on_not_exists
SELECT c.name FROM customers c JOIN orders o ON NOT EXISTS (SELECT 1 FROM order_lines l WHERE l.order_id = o.order_id)

-- query: correlated_wrapped_first
SELECT country, first((SELECT max(o.amount) FROM orders o WHERE o.status = c.country)) AS m FROM customers c GROUP BY country

-- query: correlated_group_number
SELECT (SELECT max(o.amount) FROM orders o WHERE o.status = c.country) AS m, count(*) AS n FROM customers c GROUP BY 1

-- query: in_beside_aggregate
SELECT country, country IN (SELECT status FROM orders) AS e, count(*) AS n FROM customers c GROUP BY country

-- query: having_in_key
SELECT country FROM customers c GROUP BY country HAVING country IN (SELECT status FROM orders)

-- query: window_outer_outside
SELECT name, (SELECT max(r) FROM (SELECT rank() OVER (ORDER BY o.amount) + c.customer_id AS r FROM orders o)) AS r FROM customers c

-- query: limit_correlated_from
SELECT name, (SELECT sum(amount) FROM (SELECT amount FROM orders o WHERE o.customer_id = c.customer_id ORDER BY amount LIMIT 3)) AS s FROM customers c

-- query: lateral_group
SELECT c.name, t.n FROM customers c, LATERAL (SELECT o.status, count(*) AS n FROM orders o WHERE o.customer_id = c.customer_id GROUP BY o.status) t

-- query: lateral_in_join
SELECT c.name, o.order_id, t.x FROM customers c JOIN orders o ON o.customer_id = c.customer_id JOIN LATERAL (SELECT o.amount + c.credit_limit AS x) t

-- query: lateral_struct_star
SELECT t.* FROM customers c, LATERAL (SELECT c.address.*) t

-- query: lateral_inline_outer
SELECT e.event_id, i.product_id FROM events e, LATERAL inline_outer(e.items) AS i(product_id, q, p)

-- query: lateral_explode_no_alias
SELECT c.name, col FROM customers c, LATERAL explode(c.tags)

-- query: in_subquery_scalar_two
SELECT name FROM customers WHERE customer_id IN ((SELECT max(customer_id) FROM orders), (SELECT min(customer_id) FROM orders))

-- query: scalar_field
SELECT (SELECT address FROM customers LIMIT 1).city AS x, (SELECT sizes FROM products LIMIT 1)[0] AS y

-- query: exists_table
SELECT 1 AS x WHERE EXISTS (TABLE staff)

-- query: exists_nested_parens
SELECT name FROM staff WHERE EXISTS ((SELECT 1 FROM orders))

-- query: in_nested_parens
SELECT name FROM staff WHERE name IN ((SELECT note FROM orders))

-- query: any_aggregate
SELECT any(is_gift) = any(is_paid) AS x FROM orders

-- query: exists_or
SELECT name FROM customers c WHERE country = 'x' OR EXISTS (SELECT 1 FROM orders o WHERE o.customer_id = c.customer_id)

-- query: qualified_three_levels
SELECT name FROM customers c WHERE EXISTS (SELECT 1 FROM orders o WHERE o.customer_id = c.customer_id AND o.amount > (SELECT avg(x.amount) FROM orders x WHERE x.status = o.status))
