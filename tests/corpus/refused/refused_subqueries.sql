-- query: scalar_aggregate_of_outer
SELECT customer_id, (SELECT max(price) FROM products WHERE product_id = max(o.quantity)) AS p FROM orders o GROUP BY customer_id

-- query: scalar_of_two_columns
SELECT (SELECT order_id, amount FROM orders LIMIT 1) AS x

-- query: in_of_two_columns
SELECT order_id FROM orders WHERE order_id IN (SELECT order_id, quantity FROM order_lines)

-- query: in_of_incomparable_types
SELECT order_id FROM orders WHERE order_date IN (SELECT product_id FROM products)

-- query: union_of_unequal_length
SELECT order_id, amount FROM orders UNION ALL SELECT order_id FROM order_lines

-- query: union_of_types
SELECT order_date FROM orders UNION ALL SELECT quantity FROM orders

-- query: union_of_array_and_string
SELECT tags FROM customers UNION ALL SELECT name FROM customers

-- query: intersect_of_unequal_length
SELECT order_id FROM orders INTERSECT SELECT order_id, amount FROM orders

-- query: except_of_types
SELECT is_gift FROM orders EXCEPT SELECT quantity FROM orders

-- query: intersect_of_maps
SELECT attributes FROM products INTERSECT SELECT attributes FROM products

-- query: union_distinct_of_maps
SELECT attributes FROM products UNION SELECT attributes FROM products

-- query: union_of_structs_of_other_length
SELECT struct(1 AS a) AS s UNION ALL SELECT struct(1 AS a, 2 AS b)

-- query: third_branch_differs
SELECT order_id FROM orders UNION ALL SELECT order_id FROM order_lines UNION ALL SELECT order_id, quantity FROM order_lines

-- query: recursive_types
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT array(i) FROM n) SELECT i FROM n

-- query: recursive_without_union
WITH RECURSIVE n AS (SELECT i + 1 AS i FROM n) SELECT * FROM n

-- query: recursive_in_aggregate
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT max(i) + 1 FROM n) SELECT i FROM n

-- query: recursive_columns
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1, 2 FROM n) SELECT i FROM n

-- query: correlated_under_limit_in_exists
SELECT name FROM customers c WHERE customer_id IN (SELECT o.customer_id + c.customer_id FROM orders o WHERE o.amount > c.credit_limit + (SELECT max(x) FROM (SELECT c.credit_limit AS x)))

-- query: outer_reference_two_levels_up
SELECT name FROM customers c WHERE EXISTS (SELECT 1 FROM orders o WHERE EXISTS (SELECT 1 FROM order_lines l WHERE l.order_id = c.customer_id))

-- query: lateral_with_semi_join
SELECT c.name FROM customers c LEFT SEMI JOIN LATERAL (SELECT order_id FROM orders o WHERE o.customer_id = c.customer_id) t

-- query: unresolved_in_exists
SELECT name FROM customers c WHERE EXISTS (SELECT 1 FROM orders o WHERE o.buyer = c.customer_id)

-- query: aggregate_of_outer_in_scalar
SELECT week, (SELECT max(c.week)) AS m FROM calendar c

-- query: subquery_in_lambda
SELECT filter(sizes, x -> x > (SELECT count(*) FROM staff)) AS a FROM products

-- query: recursive_distinct
WITH RECURSIVE n AS (SELECT 1 AS i UNION SELECT i + 1 FROM n WHERE i < 3) SELECT i FROM n

-- query: full_join_lateral
SELECT c.name FROM customers c FULL JOIN LATERAL (SELECT order_id FROM orders o WHERE o.customer_id = c.customer_id) t ON true

-- query: recursive_step_widens
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i || 1 FROM n WHERE i < 10) SELECT i FROM n
