-- query: lateral_alias_in_window
SELECT quantity * 2 AS q2, sum(q2) OVER (PARTITION BY customer_id) AS total FROM orders

-- query: unknown_column
SELECT order_idd FROM orders

-- query: unknown_column_far_from_any
SELECT zzz FROM orders

-- query: unknown_column_in_where
SELECT order_id FROM orders WHERE stauts = 'x'

-- query: unknown_column_in_group_by
SELECT count(*) FROM orders GROUP BY stat

-- query: unknown_column_in_order_by
SELECT order_id FROM orders ORDER BY amont

-- query: unknown_column_in_having
SELECT status FROM orders GROUP BY status HAVING totl > 1

-- query: unknown_column_in_join
SELECT o.order_id FROM orders o JOIN customers c ON o.customer_id = c.id

-- query: unknown_column_in_function
SELECT upper(concat(status, nots)) FROM orders

-- query: unknown_column_in_window
SELECT sum(amount) OVER (PARTITION BY cust ORDER BY order_id) FROM orders

-- query: unknown_column_in_case
SELECT CASE WHEN is_gft THEN 1 ELSE 0 END FROM orders

-- query: unknown_column_in_cte
WITH t AS (SELECT ordr_id FROM orders) SELECT * FROM t

-- query: unknown_column_of_cte
WITH t AS (SELECT order_id FROM orders) SELECT amount FROM t

-- query: unknown_column_of_derived_table
SELECT t.amount FROM (SELECT order_id FROM orders) t

-- query: unknown_column_in_subquery
SELECT order_id FROM orders WHERE customer_id IN (SELECT id FROM customers)

-- query: unknown_column_in_lambda
SELECT transform(sizes, x -> y + 1) FROM products

-- query: unknown_column_without_from
SELECT order_id

-- query: unknown_column_in_union_branch
SELECT order_id FROM orders UNION ALL SELECT order_id FROM products

-- query: unknown_qualifier
SELECT x.order_id FROM orders o

-- query: table_name_hidden_by_alias
SELECT orders.order_id FROM orders o

-- query: unknown_table
SELECT * FROM ordres

-- query: unknown_table_in_join
SELECT o.order_id FROM orders o JOIN custmers c ON o.customer_id = c.customer_id

-- query: unknown_table_in_subquery
SELECT order_id FROM orders WHERE customer_id IN (SELECT customer_id FROM buyers)

-- query: unknown_qualified_table
SELECT * FROM shop.orders_archive

-- query: cte_used_before_definition
WITH a AS (SELECT * FROM b), b AS (SELECT 1 AS x) SELECT * FROM a

-- query: cte_out_of_scope
SELECT * FROM (WITH t AS (SELECT 1 AS a) SELECT a FROM t) u JOIN t ON true

-- query: duplicate_cte
WITH t AS (SELECT 1 AS a), t AS (SELECT 2 AS a) SELECT * FROM t

-- query: self_reference_without_recursive
WITH n AS (SELECT 1 AS i UNION ALL SELECT i + 1 FROM n) SELECT * FROM n

-- query: ambiguous_column
SELECT customer_id FROM orders o JOIN customers c ON o.customer_id = c.customer_id

-- query: ambiguous_column_in_where
SELECT o.order_id FROM orders o JOIN order_lines l ON o.order_id = l.order_id WHERE quantity > 1

-- query: ambiguous_after_natural_names
SELECT name FROM customers, staff

-- query: ambiguous_self_join
SELECT name FROM staff a JOIN staff b ON a.manager_id = b.employee_id

-- query: ambiguous_in_derived_table
SELECT id FROM (SELECT order_id AS id, customer_id AS id FROM orders)

-- query: ambiguous_lateral_alias
SELECT 1 AS a, 2 AS a, a + 1 AS b

-- query: using_unknown_column
SELECT * FROM orders JOIN products USING (order_id)

-- query: unknown_struct_field
SELECT address.town FROM customers

-- query: unknown_nested_field
SELECT address.geo.height FROM customers

-- query: field_of_a_string
SELECT name.first FROM customers

-- query: field_of_array_of_structs
SELECT items.colour FROM events

-- query: star_of_unknown_table
SELECT x.* FROM orders o

-- query: star_of_a_plain_column
SELECT name.* FROM customers

-- query: star_except_unknown
SELECT * EXCEPT (nots) FROM orders

-- query: star_except_twice
SELECT * EXCEPT (note, note) FROM orders

-- query: alias_in_where
SELECT amount * 2 AS twice FROM orders WHERE twice > 1

-- query: aggregate_alias_in_where
SELECT status, sum(amount) AS total FROM orders WHERE total > 1 GROUP BY status

-- query: too_many_column_aliases
SELECT * FROM (SELECT 1, 2) AS t(a, b, c)

-- query: too_few_cte_columns
WITH t(a) AS (SELECT 1, 2) SELECT * FROM t

-- query: too_many_value_aliases
SELECT * FROM VALUES (1, 2) AS t(a, b, c)

-- query: later_lateral_alias
SELECT twice + 1 AS more, amount * 2 AS twice FROM orders

-- query: unknown_window
SELECT sum(amount) OVER w FROM orders

-- query: pipe_unknown_column
FROM orders |> WHERE amout > 1

-- query: pipe_dropped_column
FROM calendar |> DROP week |> SELECT week

-- query: pipe_set_unknown
FROM calendar |> SET weeks = 1

-- query: column_of_semi_joined_table
SELECT o.order_id FROM customers c LEFT SEMI JOIN orders o ON o.customer_id = c.customer_id

-- query: not_lateral
SELECT o.order_id, t.v FROM orders o, (SELECT o.amount AS v) t

-- query: unknown_function
SELECT uper(status) FROM orders

-- query: unknown_function_far
SELECT frobnicate(status, 1) FROM orders

-- query: unknown_table_function
SELECT * FROM rnge(10)

-- query: window_only_function_unknown
SELECT row_numbr() OVER (ORDER BY order_id) FROM orders

-- query: qualified_unknown_function
SELECT tools.clean(status) FROM orders

-- query: order_by_ordinal_too_large
SELECT order_id FROM orders ORDER BY 2

-- query: group_by_ordinal_too_large
SELECT status, count(*) FROM orders GROUP BY 3

-- query: group_by_ordinal_zero
SELECT status, count(*) FROM orders GROUP BY 0

-- query: identifier_too_many_parts
SELECT a.b.c.d.e FROM orders
