-- query: group_by_all_with_lateral_alias
SELECT quantity AS q, q + 1 AS q1, count(*) AS n FROM orders GROUP BY ALL

-- query: window_in_order_by
SELECT order_id FROM orders ORDER BY row_number() OVER (PARTITION BY status ORDER BY amount)

-- query: star_in_count
SELECT count(*) AS n, count(o.*) AS rows_without_nulls FROM orders o

-- query: column_not_grouped
SELECT status, customer_id, sum(amount) FROM orders GROUP BY status

-- query: column_without_group_by
SELECT status, sum(amount) FROM orders

-- query: expression_not_grouped
SELECT upper(status), quantity + 1 FROM orders GROUP BY upper(status)

-- query: star_with_group_by
SELECT * FROM orders GROUP BY status

-- query: column_inside_expression_not_grouped
SELECT status, sum(amount) / quantity FROM orders GROUP BY status

-- query: having_column_not_grouped
SELECT status FROM orders GROUP BY status HAVING amount > 1

-- query: order_by_column_not_grouped
SELECT status FROM orders GROUP BY status ORDER BY amount

-- query: aggregate_in_where
SELECT order_id FROM orders WHERE sum(amount) > 10

-- query: aggregate_in_group_by
SELECT sum(amount) FROM orders GROUP BY sum(amount)

-- query: aggregate_by_ordinal_in_group_by
SELECT status, sum(amount) FROM orders GROUP BY 1, 2

-- query: aggregate_by_alias_in_group_by
SELECT sum(amount) AS total FROM orders GROUP BY total

-- query: aggregate_in_join
SELECT o.order_id FROM orders o JOIN customers c ON sum(o.amount) > 1

-- query: nested_aggregate
SELECT sum(max(amount)) FROM orders

-- query: window_in_where
SELECT order_id FROM orders WHERE row_number() OVER (ORDER BY order_id) = 1

-- query: window_in_having
SELECT status FROM orders GROUP BY status HAVING row_number() OVER (ORDER BY status) = 1

-- query: window_in_group_by
SELECT count(*) FROM orders GROUP BY rank() OVER (ORDER BY status)

-- query: window_in_aggregate
SELECT sum(row_number() OVER (ORDER BY order_id)) FROM orders

-- query: grouping_without_grouping_sets
SELECT status, grouping(status) FROM orders GROUP BY status

-- query: grouping_of_other_column
SELECT status, grouping(quantity) FROM orders GROUP BY ROLLUP (status)

-- query: grouping_id_of_other_columns
SELECT status, grouping_id(quantity) FROM orders GROUP BY CUBE (status)

-- query: grouping_sets_column_missing
SELECT status, is_gift FROM orders GROUP BY GROUPING SETS ((status), ())

-- query: distinct_order_by_hidden
SELECT DISTINCT status FROM orders ORDER BY amount

-- query: filter_on_scalar_function
SELECT upper(status) FILTER (WHERE is_gift) FROM orders

-- query: filter_not_boolean
SELECT sum(amount) FILTER (WHERE quantity) FROM orders

-- query: filter_with_aggregate
SELECT sum(amount) FILTER (WHERE max(quantity) > 1) FROM orders

-- query: distinct_on_scalar_function
SELECT upper(DISTINCT status) FROM orders

-- query: within_group_missing
SELECT percentile_cont(0.5) FROM orders

-- query: within_group_on_sum
SELECT sum(amount) WITHIN GROUP (ORDER BY order_id) FROM orders

-- query: group_by_struct_field_selects_struct
SELECT address FROM customers GROUP BY address.city

-- query: group_by_all_without_anything_to_infer
SELECT quantity + sum(amount) FROM orders GROUP BY ALL

-- query: lateral_alias_over_ungrouped
SELECT status AS s, quantity AS q, q + 1 AS r, count(*) FROM orders GROUP BY status

-- query: generator_in_where
SELECT order_id FROM orders WHERE explode(array(1)) = 1

-- query: pivot_without_aggregate
SELECT * FROM (SELECT customer_id, status, amount FROM orders) PIVOT (amount FOR status IN ('a'))

-- query: pivot_unknown_column
SELECT * FROM (SELECT customer_id, status, amount FROM orders) PIVOT (sum(amount) FOR state IN ('a'))

-- query: pivot_value_not_constant
SELECT * FROM (SELECT customer_id, status, amount FROM orders) PIVOT (sum(amount) FOR status IN (customer_id))

-- query: unpivot_of_incompatible_columns
SELECT * FROM (SELECT order_id, status, quantity, order_date FROM orders) UNPIVOT (v FOR k IN (quantity, order_date))

-- query: pipe_select_with_aggregate
FROM orders |> SELECT sum(amount)

-- query: pipe_aggregate_without_aggregate
FROM orders |> AGGREGATE amount

-- query: pipe_extend_with_aggregate
FROM orders |> EXTEND sum(amount) AS total

-- query: random_inside_aggregate
SELECT collect_list(uniform(1, 10)) AS a FROM orders

-- query: star_in_order_by_function
SELECT status FROM orders GROUP BY status ORDER BY trim(*) DESC
