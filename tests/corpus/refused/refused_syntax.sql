-- query: empty_grouping_set
SELECT count(*) AS n FROM orders GROUP BY ()

-- query: nested_on_after_on
SELECT o.order_id, l.line_no, p.sku FROM orders o LEFT JOIN order_lines l INNER JOIN products p ON l.product_id = p.product_id ON o.order_id = l.order_id

-- query: natural_semi
SELECT * FROM customers NATURAL LEFT SEMI JOIN orders

-- query: pipe_lateral_view
FROM customers |> LATERAL VIEW explode(tags) t AS tag |> SELECT customer_id, tag

-- query: union_by_name
SELECT order_id FROM orders UNION BY NAME SELECT order_id FROM order_lines

-- query: missing_from_table
SELECT order_id FROM

-- query: misspelt_select
SELEC order_id FROM orders

-- query: misspelt_from
SELECT order_id, amount FORM orders

-- query: trailing_comma
SELECT order_id, FROM orders WHERE amount > 1

-- query: missing_comma_reads_as_two_aliases
SELECT order_id amount status FROM orders

-- query: unclosed_parenthesis
SELECT sum(amount FROM orders

-- query: extra_parenthesis
SELECT sum(amount)) FROM orders

-- query: where_before_from
SELECT order_id WHERE amount > 1 FROM orders

-- query: group_without_by
SELECT status, count(*) FROM orders GROUP status

-- query: double_where
SELECT order_id FROM orders WHERE amount > 1 WHERE quantity > 2

-- query: order_before_where
SELECT order_id FROM orders ORDER BY order_id WHERE amount > 1

-- query: case_without_end
SELECT CASE WHEN is_gift THEN 1 FROM orders

-- query: case_without_branches
SELECT CASE ELSE 1 END FROM orders

-- query: unclosed_string
SELECT 'abc FROM orders

-- query: unclosed_quoted_name
SELECT `order_id FROM orders

-- query: unclosed_comment
SELECT order_id /* the key FROM orders

-- query: empty_statement
;

-- query: only_comment
-- nothing here

-- query: between_without_and
SELECT quantity BETWEEN 1 FROM orders

-- query: join_without_table
SELECT * FROM orders JOIN ON order_id = 1

-- query: empty_in_list
SELECT order_id FROM orders WHERE quantity IN ()

-- query: two_statements
SELECT 1; SELECT 2

-- query: operator_without_operand
SELECT quantity + FROM orders

-- query: double_operator
SELECT quantity * / 2 FROM orders

-- query: cast_without_type
SELECT CAST(quantity) FROM orders

-- query: cast_with_comma
SELECT CAST(quantity, INT) FROM orders

-- query: missing_type_parameter
SELECT CAST(sizes AS ARRAY) FROM products

-- query: qualified_star_without_dot
SELECT o * FROM orders o, products

-- query: top
SELECT TOP 5 order_id FROM orders

-- query: double_equals_chain
SELECT order_id FROM orders WHERE quantity = = 1

-- query: not_equal_spelt_wrong
SELECT order_id FROM orders WHERE quantity =! 1

-- query: dollar_parameter
SELECT order_id FROM orders WHERE quantity = $1 $2

-- query: hyphen_in_name
SELECT order_id AS order-key FROM orders

-- query: square_bracket_name
SELECT [order_id] FROM orders

-- query: pipe_without_operator
FROM orders |> amount > 1

-- query: pipe_aggregate_without_function
FROM orders |> AGGREGATE

-- query: over_without_parentheses
SELECT row_number() OVER FROM orders

-- query: frame_without_order_of_bounds
SELECT sum(amount) OVER (ORDER BY order_id ROWS BETWEEN CURRENT ROW) FROM orders

-- query: with_without_body
WITH t AS SELECT 1 SELECT * FROM t

-- query: with_without_query
WITH t AS (SELECT 1)

-- query: lateral_view_without_function
SELECT * FROM customers LATERAL VIEW tags t AS tag

-- query: pivot_without_in
SELECT * FROM orders PIVOT (sum(amount) FOR status)

-- query: values_of_unequal_length
SELECT * FROM VALUES (1, 2), (3) AS t(a, b)

-- query: plus_for_star
SELECT count(+) AS n FROM orders

-- query: natural_cross_join
SELECT * FROM orders NATURAL CROSS JOIN customers

-- query: interval_of_a_column
SELECT INTERVAL quantity MILLISECONDS AS a FROM orders

-- query: timestamp_of_a_number
SELECT TIMESTAMP 1

-- query: exists_is_true
SELECT (EXISTS (SELECT 1 FROM staff) IS TRUE) AS a

-- query: aliases_of_a_scalar_function
SELECT translate('a', 'b', 'c') AS (n, s)

-- query: letters_beyond_ascii_unquoted
SELECT 0.1 AS Größe
