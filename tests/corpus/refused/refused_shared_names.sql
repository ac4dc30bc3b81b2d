-- query: natural_semi
SELECT * FROM customers NATURAL LEFT SEMI JOIN orders

-- query: natural_cross
SELECT customer_id FROM customers NATURAL CROSS JOIN orders

-- query: natural_with_using
SELECT c.customer_id FROM customers c NATURAL JOIN orders o USING (customer_id)

-- query: natural_types_bad
SELECT * FROM (SELECT array(1) AS a) x NATURAL JOIN (SELECT 1 AS a) y

-- query: using_missing_left
SELECT * FROM orders JOIN order_lines USING (line_no)

-- query: using_qualified
SELECT * FROM orders o JOIN order_lines l USING (o.order_id)

-- query: using_empty
SELECT * FROM orders o JOIN order_lines l USING ()

-- query: using_semi_right_column
SELECT o.customer_id FROM customers c LEFT SEMI JOIN orders o USING (customer_id)

-- query: using_map
SELECT attributes FROM products a JOIN products b USING (attributes)

-- query: using_on_then_using
SELECT order_id FROM orders o JOIN order_lines l ON o.order_id = l.order_id JOIN (SELECT order_id FROM orders) x USING (order_id)

-- query: using_other_ambiguous
SELECT quantity FROM orders JOIN order_lines USING (order_id)

-- query: self_join_no_alias_column
SELECT staff.name FROM staff JOIN staff ON true

-- query: join_parenthesised_alias_hides
SELECT o.order_id FROM (orders o JOIN customers c ON o.customer_id = c.customer_id) t

-- query: join_on_not_boolean
SELECT 1 AS x FROM orders o JOIN customers c ON o.order_id

-- query: join_on_aggregate
SELECT 1 AS x FROM orders o JOIN customers c ON max(o.order_id) = 1

-- query: join_on_generator
SELECT 1 AS x FROM orders o JOIN customers c ON explode(c.tags) = 'x'

-- query: semi_right_where
SELECT o.order_id FROM orders o LEFT SEMI JOIN customers c ON o.customer_id = c.customer_id WHERE c.name = 'x'

-- query: union_duplicate_order
SELECT 1 AS a, 2 AS a UNION ALL SELECT 3, 4 ORDER BY a

-- query: union_order_by_right_name
SELECT 1 AS a UNION ALL SELECT 2 AS b ORDER BY b

-- query: union_order_by_hidden
SELECT order_id FROM orders UNION ALL SELECT order_id FROM order_lines ORDER BY quantity

-- query: union_order_by_aggregate
SELECT order_id FROM orders UNION ALL SELECT order_id FROM order_lines ORDER BY max(order_id)

-- query: union_distinct_variant
SELECT body FROM events UNION SELECT body FROM events

-- query: union_int_bool
SELECT 1 AS a UNION ALL SELECT true

-- query: set_limit_in_branch
SELECT 1 AS a LIMIT 1 UNION ALL SELECT 2

-- query: set_order_in_branch
SELECT 1 AS a ORDER BY a UNION ALL SELECT 2

-- query: create_dup_cte_reference
WITH t AS (SELECT 1 AS a, 2 AS a) SELECT a FROM t

-- query: natural_dup_reference
SELECT a FROM (SELECT 1 AS a, 2 AS a) x NATURAL JOIN (SELECT 1 AS a) y

-- query: natural_case_reference
SELECT a FROM (SELECT 1 AS A) x NATURAL JOIN (SELECT 1 AS a) y

-- query: natural_variant
SELECT * FROM (SELECT body FROM events) x NATURAL JOIN (SELECT body FROM events) y

-- query: using_calendar_interval
SELECT k FROM (SELECT make_interval(1) AS k) a JOIN (SELECT make_interval(1) AS k) b USING (k)

-- query: using_keyword
SELECT * FROM orders JOIN order_lines USING order_id

-- query: using_number
SELECT * FROM orders JOIN order_lines USING (1)

-- query: union_qualifier_widened
SELECT quantity FROM orders UNION ALL SELECT order_id FROM order_lines ORDER BY orders.quantity

-- query: union_qualifier_alias_given
SELECT o.order_id AS k FROM orders o UNION ALL SELECT 1L ORDER BY o.k

-- query: union_struct_names_widen
SELECT struct(1 AS a) AS s UNION ALL SELECT struct(2L AS b)

-- query: except_struct_names
SELECT struct(1 AS a) AS s EXCEPT SELECT struct(2 AS b)

-- query: union_order_window
SELECT order_id AS k FROM orders UNION ALL SELECT order_id FROM order_lines ORDER BY row_number() OVER (ORDER BY k)

-- query: union_branch_offset
SELECT 1 AS a OFFSET 1 UNION ALL SELECT 2

-- query: union_middle_limit
SELECT 1 AS a UNION ALL SELECT 2 LIMIT 1 UNION ALL SELECT 3

-- query: union_cte_inside
SELECT 1 AS a UNION ALL WITH t AS (SELECT 2 AS a) SELECT a FROM t

-- query: union_keyword_twice
SELECT 1 AS a UNION UNION SELECT 2

-- query: union_interval_text
SELECT lead_time AS d FROM products UNION ALL SELECT sku FROM products

-- query: join_double_on
SELECT 1 AS x FROM staff a JOIN staff b ON true ON false

-- query: outer_join_alone
SELECT 1 AS x FROM staff a OUTER JOIN staff b ON true

-- query: full_semi
SELECT 1 AS x FROM staff a FULL SEMI JOIN staff b ON true

-- query: right_semi
SELECT 1 AS x FROM staff a RIGHT SEMI JOIN staff b ON true
