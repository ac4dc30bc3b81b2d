-- query: value_string_for_int
SELECT * FROM (SELECT customer_id, quantity, amount FROM orders) PIVOT (sum(amount) FOR quantity IN ('x'))

-- query: value_int_for_date
SELECT * FROM (SELECT customer_id, order_date, amount FROM orders) PIVOT (sum(amount) FOR order_date IN (1))

-- query: value_rand
SELECT * FROM (SELECT customer_id, tax, amount FROM orders) PIVOT (sum(amount) FOR tax IN (rand() AS d))

-- query: value_column
SELECT * FROM (SELECT customer_id, status, amount FROM orders) PIVOT (sum(amount) FOR status IN (amount))

-- query: value_subquery
SELECT * FROM (SELECT customer_id, status, amount FROM orders) PIVOT (sum(amount) FOR status IN (SELECT 'a'))

-- query: value_scalar_subquery
SELECT * FROM (SELECT customer_id, status, amount FROM orders) PIVOT (sum(amount) FOR status IN ((SELECT 'a')))

-- query: value_any
SELECT * FROM (SELECT customer_id, status, amount FROM orders) PIVOT (sum(amount) FOR status IN (ANY))

-- query: value_none
SELECT * FROM (SELECT customer_id, status, amount FROM orders) PIVOT (sum(amount) FOR status IN ())

-- query: value_map
SELECT * FROM (SELECT sku, attributes, price FROM products) PIVOT (sum(price) FOR attributes IN (map('a', 'b') AS s))

-- query: two_columns_one_value
SELECT * FROM (SELECT customer_id, status, is_gift, amount FROM orders) PIVOT (sum(amount) FOR (status, is_gift) IN ('a', 'b'))

-- query: two_columns_three_values
SELECT * FROM (SELECT customer_id, status, is_gift, amount FROM orders) PIVOT (sum(amount) FOR (status, is_gift) IN (('a', true, 1)))

-- query: two_columns_wrong_type
SELECT * FROM (SELECT customer_id, status, is_gift, amount FROM orders) PIVOT (sum(amount) FOR (status, is_gift) IN (('a', 'x') AS ax))

-- query: for_expression
SELECT * FROM (SELECT customer_id, status, amount FROM orders) PIVOT (sum(amount) FOR upper(status) IN ('A'))

-- query: for_qualified
SELECT * FROM (SELECT customer_id, status, amount FROM orders) o PIVOT (sum(amount) FOR o.status IN ('a'))

-- query: for_unknown
SELECT * FROM (SELECT customer_id, status, amount FROM orders) PIVOT (sum(amount) FOR nothing IN ('a'))

-- query: for_struct_field
SELECT * FROM (SELECT customer_id, address FROM customers) PIVOT (count(*) FOR address.city IN ('a'))

-- query: aggregate_with_plain_column
SELECT * FROM (SELECT customer_id, status, amount FROM orders) PIVOT (sum(amount) + customer_id FOR status IN ('a'))

-- query: aggregate_missing
SELECT * FROM (SELECT customer_id, status, amount FROM orders) PIVOT (amount FOR status IN ('a'))

-- query: aggregate_scalar
SELECT * FROM (SELECT customer_id, status, amount FROM orders) PIVOT (upper(status) FOR status IN ('a'))

-- query: aggregate_window
SELECT * FROM (SELECT customer_id, status, amount FROM orders) PIVOT (sum(amount) OVER () FOR status IN ('a'))

-- query: aggregate_ranking
SELECT * FROM (SELECT customer_id, status, amount FROM orders) PIVOT (row_number() OVER (ORDER BY amount) FOR status IN ('a'))

-- query: aggregate_nested
SELECT * FROM (SELECT customer_id, status, amount FROM orders) PIVOT (sum(max(amount)) FOR status IN ('a'))

-- query: aggregate_listagg
SELECT * FROM (SELECT customer_id, status, note FROM orders) PIVOT (listagg(note, ',') WITHIN GROUP (ORDER BY note) AS p FOR status IN ('a', 'b'))

-- query: aggregate_unknown_column
SELECT * FROM (SELECT customer_id, status, amount FROM orders) PIVOT (sum(nothing) FOR status IN ('a', 'b'))

-- query: aggregate_unknown_function
SELECT * FROM (SELECT customer_id, status, amount FROM orders) PIVOT (summe(amount) FOR status IN ('a', 'b'))

-- query: aggregate_grouping
SELECT * FROM (SELECT customer_id, status, amount FROM orders) PIVOT (grouping(status) FOR status IN ('a', 'b'))

-- query: aggregate_generator
SELECT * FROM (SELECT customer_id, status, amount FROM orders) PIVOT (explode(collect_list(amount)) FOR status IN ('a', 'b'))

-- query: pivot_alias
SELECT p.a, p.customer_id FROM (SELECT customer_id, status, amount FROM orders) PIVOT (sum(amount) FOR status IN ('a', 'b')) AS p

-- query: pivot_alias_columns
SELECT p.x, p.y FROM (SELECT customer_id, status, amount FROM orders) PIVOT (sum(amount) FOR status IN ('a')) AS p(x, y)

-- query: pivot_alias_hides_table
SELECT o.customer_id FROM (SELECT customer_id, status, amount FROM orders) o PIVOT (sum(amount) FOR status IN ('a')) AS p

-- query: pivot_removed_column
SELECT status FROM (SELECT customer_id, status, amount FROM orders) PIVOT (sum(amount) FOR status IN ('a'))

-- query: pivot_removed_argument
SELECT amount FROM (SELECT customer_id, status, amount FROM orders) PIVOT (sum(amount) FOR status IN ('a'))

-- query: pivot_name_clash_selected
SELECT a FROM (SELECT customer_id AS a, status, amount FROM orders) PIVOT (sum(amount) FOR status IN ('a'))

-- query: unpivot_string_alias
SELECT * FROM quarterly_sales UNPIVOT (v FOR k IN (q1 AS 'first', q2 AS 'second'))

-- query: unpivot_number_alias
SELECT * FROM quarterly_sales UNPIVOT (v FOR k IN (q1 AS 1, q2 AS 2))

-- query: unpivot_types_incompatible
SELECT * FROM quarterly_sales UNPIVOT (v FOR k IN (product, q3))

-- query: unpivot_types_string_and_decimal
SELECT * FROM quarterly_sales UNPIVOT (v FOR k IN (q1, region))

-- query: unpivot_types_boolean_and_int
SELECT * FROM (SELECT order_id, is_gift, quantity FROM orders) UNPIVOT (v FOR k IN (is_gift, quantity))

-- query: unpivot_multi_wrong_count
SELECT * FROM quarterly_sales UNPIVOT ((a, b) FOR half IN ((q1, q2, q3)))

-- query: unpivot_multi_single
SELECT * FROM quarterly_sales UNPIVOT ((a, b) FOR half IN (q1, q2))

-- query: unpivot_multi_incompatible
SELECT * FROM quarterly_sales UNPIVOT ((a, b) FOR half IN ((q1, region), (product, q3)))

-- query: unpivot_expression
SELECT * FROM quarterly_sales UNPIVOT (v FOR k IN (q1 + 1, q2))

-- query: unpivot_expression_alias
SELECT * FROM quarterly_sales UNPIVOT (v FOR k IN (upper(region) AS r))

-- query: unpivot_cast
SELECT * FROM quarterly_sales UNPIVOT (v FOR k IN (CAST(q1 AS STRING) AS a, region AS b))

-- query: unpivot_literal
SELECT * FROM quarterly_sales UNPIVOT (v FOR k IN ('q1'))

-- query: unpivot_star
SELECT * FROM quarterly_sales UNPIVOT (v FOR k IN (*))

-- query: unpivot_unknown
SELECT * FROM quarterly_sales UNPIVOT (v FOR k IN (q5))

-- query: unpivot_struct_field
SELECT * FROM (SELECT customer_id, address FROM customers) UNPIVOT (v FOR k IN (address.city, address.street))

-- query: unpivot_struct_field_nested
SELECT * FROM (SELECT customer_id, address FROM customers) UNPIVOT (v FOR k IN (address.geo.lat AS lat, address.geo.lon AS lon))

-- query: unpivot_removed_column
SELECT q1 FROM quarterly_sales UNPIVOT (v FOR k IN (q1, q2))

-- query: unpivot_name_clash
SELECT * FROM quarterly_sales UNPIVOT (region FOR k IN (q1, q2))

-- query: unpivot_name_clash_of_both
SELECT * FROM quarterly_sales UNPIVOT (v FOR v IN (q1, q2))

-- query: unpivot_table_alias_columns
SELECT u.a, u.b FROM (SELECT region, q1, q2 FROM quarterly_sales) UNPIVOT (v FOR k IN (q1, q2)) AS u(a, b, c)

-- query: unpivot_hides_table
SELECT quarterly_sales.region FROM quarterly_sales UNPIVOT (v FOR k IN (q1, q2)) AS u

-- query: unpivot_empty
SELECT * FROM quarterly_sales UNPIVOT (v FOR k IN ())

-- query: unpivot_intervals
SELECT * FROM (SELECT product_id, lead_time, warranty FROM products) UNPIVOT (v FOR k IN (lead_time, warranty))

-- query: unpivot_after_where
SELECT * FROM quarterly_sales WHERE q1 > 1 UNPIVOT (v FOR k IN (q1, q2))
