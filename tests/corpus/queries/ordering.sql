-- query: by_column
SELECT order_id, amount FROM orders ORDER BY amount

-- query: directions_and_nulls
SELECT order_id FROM orders ORDER BY status DESC NULLS LAST, amount ASC NULLS FIRST, order_id

-- query: by_ordinal
SELECT status, amount FROM orders ORDER BY 2 DESC, 1

-- query: by_alias
SELECT amount * 2 AS double_amount FROM orders ORDER BY double_amount

-- query: by_hidden_column
SELECT order_id FROM orders ORDER BY ordered_at

-- query: by_expression
SELECT order_id FROM orders ORDER BY abs(amount - 10), length(status)

-- query: by_all
SELECT status, amount FROM orders ORDER BY ALL

-- query: by_all_desc
SELECT status, amount FROM orders ORDER BY ALL DESC NULLS LAST

-- query: sort_by
SELECT order_id FROM orders SORT BY amount DESC

-- query: distribute_by
SELECT order_id FROM orders DISTRIBUTE BY customer_id SORT BY amount

-- query: cluster_by
SELECT order_id, customer_id FROM orders CLUSTER BY customer_id

-- query: limit
SELECT order_id FROM orders LIMIT 10

-- query: limit_all
SELECT order_id FROM orders LIMIT ALL

-- query: limit_offset
SELECT order_id FROM orders ORDER BY order_id LIMIT 10 OFFSET 20

-- query: offset_only
SELECT order_id FROM orders ORDER BY order_id OFFSET 5

-- query: limit_expression
SELECT order_id FROM orders LIMIT 2 * 5 + CAST('1' AS INT)

-- query: distinct_order
SELECT DISTINCT status FROM orders ORDER BY status

-- query: order_by_aggregate_alias
SELECT status, count(*) AS n FROM orders GROUP BY status ORDER BY n DESC

-- query: order_by_group_key_hidden
SELECT count(*) AS n FROM orders GROUP BY status ORDER BY status

-- query: order_by_qualified_star
SELECT o.* FROM orders o ORDER BY o.amount, o.order_id

-- query: order_by_case
SELECT order_id, status FROM orders ORDER BY CASE status WHEN 'new' THEN 0 ELSE 1 END

-- query: alias_beats_column_in_order_by
SELECT -amount AS amount FROM orders ORDER BY amount

-- query: order_by_struct_field
SELECT name FROM customers ORDER BY address.city, loyalty.points

-- query: tablesample_percent
SELECT order_id, amount FROM orders TABLESAMPLE (10 PERCENT)

-- query: tablesample_rows
SELECT order_id FROM orders TABLESAMPLE (5 ROWS) AS o

-- query: tablesample_bucket
SELECT order_id FROM orders TABLESAMPLE (BUCKET 4 OUT OF 10) o

-- query: tablesample_repeatable
SELECT order_id FROM orders TABLESAMPLE (50 PERCENT) REPEATABLE (42)

-- query: order_by_after_join_using
SELECT order_id FROM orders JOIN order_lines USING (order_id) ORDER BY order_id, line_no

-- query: order_by_column_not_in_distinct_free_select
SELECT upper(status) AS s FROM orders ORDER BY status
