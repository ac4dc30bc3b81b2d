-- query: inner
SELECT o.order_id, c.name, c.email FROM orders o JOIN customers c ON o.customer_id = c.customer_id

-- query: inner_keyword
SELECT o.order_id, c.name FROM orders o INNER JOIN customers c ON o.customer_id = c.customer_id

-- query: left
SELECT o.order_id, c.customer_id, c.name, c.email FROM orders o LEFT JOIN customers c ON o.customer_id = c.customer_id

-- query: left_outer
SELECT o.*, c.birth_date, c.address FROM orders o LEFT OUTER JOIN customers c ON o.customer_id = c.customer_id

-- query: right
SELECT o.order_id, o.amount, c.name FROM orders o RIGHT JOIN customers c ON o.customer_id = c.customer_id

-- query: full
SELECT o.order_id, c.name, coalesce(o.customer_id, c.customer_id) AS customer_id FROM orders o FULL OUTER JOIN customers c ON o.customer_id = c.customer_id

-- query: cross
SELECT o.order_id, p.sku FROM orders o CROSS JOIN products p

-- query: comma
SELECT o.order_id, p.sku, c.day FROM orders o, products p, calendar c WHERE o.order_date = c.day

-- query: comma_then_join
SELECT o.order_id, c.name, k.week FROM calendar k, orders o LEFT JOIN customers c ON o.customer_id = c.customer_id

-- query: join_without_condition
SELECT o.order_id, p.sku FROM orders o JOIN products p

-- query: left_semi
SELECT * FROM customers c LEFT SEMI JOIN orders o ON o.customer_id = c.customer_id AND o.amount > 100

-- query: semi
SELECT c.name FROM customers c SEMI JOIN orders o ON o.customer_id = c.customer_id

-- query: left_anti
SELECT c.customer_id, c.name FROM customers c LEFT ANTI JOIN orders o ON o.customer_id = c.customer_id

-- query: anti_using
SELECT * FROM customers ANTI JOIN orders USING (customer_id)

-- query: using_inner
SELECT * FROM orders JOIN order_lines USING (order_id)

-- query: using_selected_key
SELECT order_id, line_no, o.order_id AS left_id, l.order_id AS right_id FROM orders o JOIN order_lines l USING (order_id)

-- query: using_left
SELECT order_id, o.order_id AS left_id, l.order_id AS right_id, line_no FROM orders o LEFT JOIN order_lines l USING (order_id)

-- query: using_right
SELECT order_id, o.order_id AS left_id, l.order_id AS right_id, o.amount FROM orders o RIGHT JOIN order_lines l USING (order_id)

-- query: using_full
SELECT order_id, o.order_id AS left_id, l.order_id AS right_id FROM orders o FULL JOIN order_lines l USING (order_id)

-- query: using_full_star
SELECT * FROM (SELECT order_id, amount FROM orders) o FULL JOIN (SELECT order_id, line_no FROM order_lines) l USING (order_id)

-- query: using_two_keys
SELECT * FROM (SELECT order_id, quantity, amount FROM orders) a JOIN order_lines b USING (order_id, quantity)

-- query: using_keys_of_two_types
SELECT order_id, product_id FROM (SELECT CAST(order_id AS INT) AS order_id FROM orders) o FULL JOIN order_lines l USING (order_id)

-- query: using_case_insensitive
SELECT ORDER_ID, amount FROM orders JOIN order_lines USING (Order_Id)

-- query: using_star_of_one_side
SELECT l.* FROM orders o JOIN order_lines l USING (order_id)

-- query: using_chain
SELECT customer_id, order_id, line_no, name FROM customers JOIN orders USING (customer_id) JOIN order_lines USING (order_id)

-- query: using_chain_of_left_joins
SELECT * FROM (SELECT customer_id, name FROM customers) c LEFT JOIN (SELECT customer_id, order_id FROM orders) o USING (customer_id) LEFT JOIN (SELECT order_id, line_no FROM order_lines) l USING (order_id)

-- query: natural
SELECT * FROM orders NATURAL JOIN customers

-- query: natural_left
SELECT * FROM orders NATURAL LEFT JOIN (SELECT order_id, line_no FROM order_lines)

-- query: natural_full
SELECT * FROM (SELECT order_id, amount FROM orders) NATURAL FULL JOIN (SELECT order_id, line_no FROM order_lines)

-- query: natural_without_common_columns
SELECT order_id, sku FROM orders NATURAL JOIN (SELECT sku FROM products)

-- query: self
SELECT e.name AS employee, m.name AS manager FROM staff e JOIN staff m ON e.manager_id = m.employee_id

-- query: self_left
SELECT e.name AS employee, m.name AS manager, m.salary FROM staff e LEFT JOIN staff m ON e.manager_id = m.employee_id

-- query: three_way_left_then_inner
SELECT o.order_id, l.line_no, p.sku, p.price FROM orders o LEFT JOIN order_lines l ON o.order_id = l.order_id JOIN products p ON l.product_id = p.product_id

-- query: three_way_inner_then_left
SELECT o.order_id, l.line_no, p.sku, p.price FROM orders o JOIN order_lines l ON o.order_id = l.order_id LEFT JOIN products p ON l.product_id = p.product_id

-- query: full_after_left
SELECT o.order_id, l.line_no, p.sku FROM orders o LEFT JOIN order_lines l ON o.order_id = l.order_id FULL JOIN products p ON l.product_id = p.product_id

-- query: right_after_inner
SELECT o.order_id, l.line_no, p.sku FROM orders o JOIN order_lines l ON o.order_id = l.order_id RIGHT JOIN products p ON l.product_id = p.product_id

-- query: nested_parentheses
SELECT o.order_id, l.line_no, p.sku FROM orders o LEFT JOIN (order_lines l JOIN products p ON l.product_id = p.product_id) ON o.order_id = l.order_id

-- query: nested_parentheses_with_alias
SELECT t.order_id, t.sku FROM (orders o JOIN products p ON o.quantity = p.product_id) t

-- query: non_equi
SELECT o.order_id, c.label FROM orders o JOIN calendar c ON o.order_date >= c.day AND o.order_date < c.day + 7

-- query: on_with_expression
SELECT o.order_id, p.sku FROM orders o LEFT JOIN products p ON upper(o.status) = upper(p.sku) OR o.quantity BETWEEN 1 AND p.product_id

-- query: derived_tables
SELECT t.customer_id, t.total, c.name FROM (SELECT customer_id, sum(amount) AS total FROM orders GROUP BY customer_id) t JOIN customers c ON t.customer_id = c.customer_id

-- query: lateral_subquery
SELECT o.order_id, t.lines FROM orders o, LATERAL (SELECT count(*) AS lines FROM order_lines l WHERE l.order_id = o.order_id) t

-- query: lateral_join
SELECT c.name, t.order_id, t.amount FROM customers c JOIN LATERAL (SELECT order_id, amount FROM orders o WHERE o.customer_id = c.customer_id ORDER BY amount DESC LIMIT 3) t

-- query: left_lateral_join
SELECT c.name, t.order_id, t.amount FROM customers c LEFT JOIN LATERAL (SELECT order_id, amount FROM orders o WHERE o.customer_id = c.customer_id) t ON true

-- query: lateral_of_earlier_column
SELECT o.order_id, x.doubled FROM orders o CROSS JOIN LATERAL (SELECT o.quantity * 2 AS doubled) x

-- query: lateral_chain
SELECT a.v, b.w FROM orders o, LATERAL (SELECT o.amount + 1 AS v) a, LATERAL (SELECT a.v * 2 AS w) b

-- query: lateral_explode
SELECT c.name, t.tag FROM customers c, LATERAL explode(c.tags) AS t(tag)

-- query: left_lateral_explode
SELECT e.event_id, i.pos, i.col FROM events e LEFT JOIN LATERAL posexplode(e.scores) AS i ON true

-- query: table_function_in_join
SELECT o.order_id, r.id FROM orders o JOIN range(10) r ON r.id < o.quantity

-- query: values_in_join
SELECT o.order_id, v.label FROM orders o LEFT JOIN VALUES ('a', 'Open'), ('b', 'Done') AS v(code, label) ON o.status = v.code

-- query: same_alias_case
SELECT O.order_id FROM orders o JOIN customers C ON O.customer_id = c.customer_id

-- query: semi_then_left
SELECT c.name, o.order_id FROM customers c LEFT SEMI JOIN staff s ON s.name = c.name LEFT JOIN orders o ON o.customer_id = c.customer_id

-- query: structs_under_outer_join
SELECT o.order_id, c.address.city AS city, c.address.geo.lat AS lat, c.loyalty.tier AS tier, c.tags[0] AS tag FROM orders o LEFT JOIN customers c ON o.customer_id = c.customer_id

-- query: struct_star_under_outer_join
SELECT o.order_id, c.address.* FROM orders o LEFT JOIN customers c ON o.customer_id = c.customer_id

-- query: coalesce_after_left_join
SELECT o.order_id, coalesce(l.quantity, 0) AS quantity, coalesce(l.unit_price, o.amount) AS price FROM orders o LEFT JOIN order_lines l ON l.order_id = o.order_id

-- query: join_on_coerced_types
SELECT o.order_id FROM orders o JOIN products p ON o.order_id = p.product_id JOIN legacy g ON g.`Id` = o.amount

-- query: using_then_on
SELECT o.order_id, l.line_no, p.title FROM orders o JOIN order_lines l USING (order_id) LEFT JOIN products p ON p.product_id = l.product_id

-- query: cross_join_three
SELECT a.id AS x, b.id AS y, c.id AS z FROM range(2) a CROSS JOIN range(2) b CROSS JOIN range(2) c

-- query: semi_using_second_column
SELECT * FROM orders SEMI JOIN customers USING (customer_id)

-- query: anti_using_in_a_pipe
FROM order_lines AS l |> LEFT ANTI JOIN products AS p USING (product_id) |> SELECT *
