-- query: scalar_in_select
SELECT order_id, (SELECT max(amount) FROM orders) AS top FROM orders

-- query: scalar_correlated
SELECT c.name, (SELECT count(*) FROM orders o WHERE o.customer_id = c.customer_id) AS orders FROM customers c

-- query: scalar_correlated_sum
SELECT c.name, (SELECT sum(o.amount) FROM orders o WHERE o.customer_id = c.customer_id) AS total FROM customers c

-- query: scalar_of_not_null_column
SELECT (SELECT order_id FROM orders LIMIT 1) AS id, (SELECT 1) AS one

-- query: scalar_in_expression
SELECT order_id, amount / (SELECT sum(amount) FROM orders) AS share, amount - (SELECT avg(amount) FROM orders) AS above FROM orders

-- query: scalar_in_where
SELECT order_id FROM orders WHERE amount > (SELECT avg(amount) FROM orders)

-- query: scalar_struct
SELECT (SELECT struct(max(amount) AS top, count(*) AS n) FROM orders) AS s, (SELECT struct(max(amount) AS top, count(*) AS n) FROM orders).n AS n

-- query: scalar_in_case
SELECT CASE WHEN amount > (SELECT avg(amount) FROM orders) THEN 'high' ELSE 'low' END AS band FROM orders

-- query: scalar_in_aggregate
SELECT customer_id, sum(amount) / (SELECT count(*) FROM customers) AS x FROM orders GROUP BY customer_id

-- query: in_subquery
SELECT order_id FROM orders WHERE customer_id IN (SELECT customer_id FROM customers WHERE country = 'PT')

-- query: not_in_subquery
SELECT order_id FROM orders WHERE customer_id NOT IN (SELECT referrer_id FROM customers)

-- query: in_subquery_as_column
SELECT order_id, customer_id IN (SELECT customer_id FROM customers) AS known, quantity IN (SELECT product_id FROM order_lines) AS maybe FROM orders

-- query: in_subquery_coerced
SELECT order_id FROM orders WHERE order_id IN (SELECT product_id FROM products) AND amount IN (SELECT unit_price FROM order_lines)

-- query: in_subquery_several_columns
SELECT order_id FROM orders WHERE (order_id, quantity) IN (SELECT order_id, quantity FROM order_lines)

-- query: in_correlated
SELECT order_id FROM orders o WHERE quantity IN (SELECT quantity FROM order_lines l WHERE l.order_id = o.order_id)

-- query: exists
SELECT name FROM customers c WHERE EXISTS (SELECT 1 FROM orders o WHERE o.customer_id = c.customer_id)

-- query: not_exists
SELECT name FROM customers c WHERE NOT EXISTS (SELECT * FROM orders o WHERE o.customer_id = c.customer_id AND o.amount > 10)

-- query: exists_as_column
SELECT name, EXISTS (SELECT 1 FROM orders o WHERE o.customer_id = c.customer_id) AS has_orders FROM customers c

-- query: exists_or
SELECT name FROM customers c WHERE country = 'PT' OR EXISTS (SELECT 1 FROM orders o WHERE o.customer_id = c.customer_id)

-- query: nested_two_levels
SELECT name FROM customers c WHERE EXISTS (SELECT 1 FROM orders o WHERE o.customer_id = c.customer_id AND o.order_id IN (SELECT order_id FROM order_lines WHERE quantity > 1))

-- query: nested_scalars
SELECT (SELECT max(x) FROM (SELECT (SELECT count(*) FROM staff) AS x FROM calendar)) AS y

-- query: column_hidden_by_inner
SELECT order_id FROM orders WHERE quantity > (SELECT avg(quantity) FROM order_lines WHERE order_id = orders.order_id)

-- query: outer_column_by_plain_name
SELECT name FROM customers WHERE EXISTS (SELECT 1 FROM staff WHERE staff.name = country)

-- query: subquery_in_having
SELECT customer_id, sum(amount) AS total FROM orders GROUP BY customer_id HAVING sum(amount) > (SELECT avg(credit_limit) FROM customers)

-- query: subquery_in_order_by
SELECT order_id FROM orders ORDER BY (SELECT max(week) FROM calendar), order_id

-- query: subquery_in_join_condition
SELECT o.order_id, l.line_no FROM orders o JOIN order_lines l ON o.order_id = l.order_id AND l.product_id IN (SELECT product_id FROM products)

-- query: derived_table_with_columns
SELECT t.a, t.b FROM (SELECT order_id, amount * 2 FROM orders) AS t(a, b)

-- query: derived_table_order_and_limit
SELECT * FROM (SELECT order_id, amount FROM orders ORDER BY amount DESC LIMIT 10) ORDER BY order_id

-- query: derived_table_without_alias
SELECT total FROM (SELECT sum(amount) AS total FROM orders)

-- query: scalar_over_union
SELECT (SELECT max(v) FROM (SELECT quantity AS v FROM orders UNION ALL SELECT product_id FROM order_lines)) AS m

-- query: scalar_with_cte
SELECT (WITH t AS (SELECT 1 AS a) SELECT a FROM t) AS b

-- query: any_value_of_subquery
SELECT order_id, coalesce((SELECT any_value(name) FROM customers c WHERE c.customer_id = o.customer_id), 'unknown') AS name FROM orders o

-- query: correlated_with_group_by
SELECT order_id, (SELECT count(*) FROM order_lines l WHERE l.order_id = o.order_id GROUP BY l.order_id) AS n FROM orders o

-- query: correlated_limit_one
SELECT order_id, (SELECT unit_price FROM order_lines l WHERE l.order_id = o.order_id ORDER BY unit_price DESC LIMIT 1) AS top FROM orders o

-- query: correlated_non_equality
SELECT c.name, (SELECT max(amount) FROM orders o WHERE o.order_date < c.signup_date) AS before FROM customers c

-- query: array_subquery
SELECT array((SELECT 1), (SELECT max(quantity) FROM orders)) AS a

-- query: between_subqueries
SELECT order_id FROM orders WHERE amount BETWEEN (SELECT min(price) FROM products) AND (SELECT max(price) FROM products)

-- query: exists_in_case
SELECT CASE WHEN EXISTS (SELECT 1 FROM orders o WHERE o.customer_id = c.customer_id) THEN 'buyer' ELSE 'visitor' END AS kind FROM customers c

-- query: values_subquery
SELECT order_id FROM orders WHERE status IN (SELECT code FROM VALUES ('a'), ('b') AS v(code))

-- query: in_with_null_literal
SELECT NULL IN (SELECT customer_id FROM customers) AS a, customer_id IN (SELECT NULL) AS b FROM orders

-- query: scalar_correlated_without_aggregate
SELECT (SELECT amount FROM orders o WHERE o.customer_id = c.customer_id) AS x FROM customers c

-- query: exists_in_group_by
SELECT count(*) FROM orders o GROUP BY EXISTS (SELECT 1 FROM customers c WHERE c.customer_id = o.customer_id)
