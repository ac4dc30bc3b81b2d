-- query: rank_by_alias_of_aggregate
SELECT status, count(*) AS n, rank() OVER (ORDER BY n DESC) AS r FROM orders GROUP BY status

-- query: partition_by_ungrouped
SELECT status, sum(sum(amount)) OVER (PARTITION BY customer_id) AS s FROM orders GROUP BY status

-- query: order_by_ungrouped
SELECT status, rank() OVER (ORDER BY amount) AS r FROM orders GROUP BY status

-- query: argument_ungrouped
SELECT status, lag(amount) OVER (ORDER BY status) AS r FROM orders GROUP BY status

-- query: sum_of_ungrouped_over
SELECT status, sum(amount) OVER (PARTITION BY status) AS m FROM orders GROUP BY status

-- query: key_expression_part_in_partition
SELECT year(order_date) AS y, sum(sum(amount)) OVER (PARTITION BY order_date) AS s FROM orders GROUP BY year(order_date)

-- query: alias_of_key_in_over
SELECT upper(status) AS u, count(*) AS n, row_number() OVER (ORDER BY u) AS r FROM orders GROUP BY u

-- query: alias_of_key_in_over_grouped_by_expression
SELECT upper(status) AS u, count(*) AS n, row_number() OVER (PARTITION BY u ORDER BY n) AS r FROM orders GROUP BY upper(status)

-- query: plain_column_beside_global_window_aggregate
SELECT status, sum(sum(amount)) OVER () AS s FROM orders

-- query: window_over_column_in_global_aggregate
SELECT count(*), sum(amount) OVER () FROM orders

-- query: window_inside_aggregate
SELECT status, sum(rank() OVER (ORDER BY status)) AS s FROM orders GROUP BY status

-- query: aggregate_of_aggregate_of_aggregate_over
SELECT sum(max(sum(amount))) OVER () AS s FROM orders GROUP BY status

-- query: having_window
SELECT status, count(*) FROM orders GROUP BY status HAVING rank() OVER (ORDER BY count(*)) < 3

-- query: having_alias_of_window
SELECT status, rank() OVER (ORDER BY count(*)) AS r FROM orders GROUP BY status HAVING r < 3

-- query: order_by_window_in_group
SELECT status, count(*) AS n FROM orders GROUP BY status ORDER BY rank() OVER (ORDER BY count(*))

-- query: order_by_aggregate_beside_window
SELECT status, rank() OVER (ORDER BY count(*)) AS r FROM orders GROUP BY status ORDER BY count(*)

-- query: order_by_aggregate_not_selected_beside_window
SELECT status, rank() OVER (ORDER BY count(*)) AS r FROM orders GROUP BY status ORDER BY max(amount)

-- query: order_by_ungrouped_beside_window
SELECT status, rank() OVER (ORDER BY count(*)) AS r FROM orders GROUP BY status ORDER BY amount

-- query: order_by_window_of_alias
SELECT status, sum(amount) AS total FROM orders GROUP BY status ORDER BY rank() OVER (ORDER BY total)

-- query: qualify_over_aggregate
SELECT status, sum(amount) AS total FROM orders GROUP BY status QUALIFY rank() OVER (ORDER BY sum(amount) DESC) <= 3

-- query: qualify_alias
SELECT status, rank() OVER (ORDER BY amount) AS r FROM orders QUALIFY r = 1

-- query: qualify_without_window
SELECT status FROM orders QUALIFY status = 'a'

-- query: qualify_row_number
SELECT order_id, status FROM orders QUALIFY row_number() OVER (PARTITION BY customer_id ORDER BY ordered_at DESC) = 1

-- query: named_window_of_ungrouped
SELECT status, sum(sum(amount)) OVER w AS s FROM orders GROUP BY status WINDOW w AS (PARTITION BY customer_id)

-- query: named_window_by_alias
SELECT status, sum(amount) AS t, row_number() OVER w AS s FROM orders GROUP BY status WINDOW w AS (ORDER BY t DESC)

-- query: group_by_window
SELECT count(*) FROM orders GROUP BY row_number() OVER (ORDER BY order_id)

-- query: group_by_alias_of_window
SELECT row_number() OVER (ORDER BY order_id) AS r, count(*) FROM orders GROUP BY r

-- query: group_by_all_with_window
SELECT status, row_number() OVER (ORDER BY status) AS r, count(*) AS n FROM orders GROUP BY ALL

-- query: group_by_all_with_sum_over_of_column
SELECT status, sum(amount) OVER (PARTITION BY status) AS r, count(*) FROM orders GROUP BY ALL

-- query: count_distinct_of_aggregate_over
SELECT status, count(DISTINCT sum(amount)) OVER () FROM orders GROUP BY status

-- query: filter_on_window_aggregate
SELECT status, sum(count(*)) FILTER (WHERE status = 'a') OVER () AS s FROM orders GROUP BY status

-- query: group_key_in_frame_bound
SELECT quantity, sum(count(*)) OVER (ORDER BY quantity ROWS BETWEEN quantity PRECEDING AND CURRENT ROW) FROM orders GROUP BY quantity

-- query: nested_field_key
SELECT address.city, count(*), rank() OVER (PARTITION BY address.geo.lat ORDER BY count(*)) FROM customers GROUP BY address.city

-- query: lateral_alias_of_aggregate_in_window
SELECT status, sum(amount) AS s, sum(s) OVER () AS t FROM orders GROUP BY status

-- query: lateral_alias_in_window_without_group
SELECT amount * quantity AS v, sum(v) OVER (PARTITION BY status) AS t FROM orders

-- query: lateral_alias_in_window_order
SELECT amount * quantity AS v, rank() OVER (ORDER BY v) AS t FROM orders

-- query: lateral_alias_in_named_window
SELECT amount * quantity AS v, rank() OVER w AS t FROM orders WINDOW w AS (ORDER BY v)

-- query: lateral_alias_of_window_in_window
SELECT row_number() OVER (ORDER BY order_id) AS r, sum(r) OVER () AS s FROM orders

-- query: window_in_scalar_subquery
SELECT status, (SELECT max(rank() OVER (ORDER BY week)) FROM calendar) AS r FROM orders

-- query: window_star
SELECT *, rank() OVER (ORDER BY count(*)) FROM orders GROUP BY status

-- query: aggregate_in_over_of_plain_query
SELECT order_id, rank() OVER (ORDER BY sum(amount)) AS r FROM orders

-- query: count_of_table_star_over
SELECT count(o.*) OVER () AS n FROM orders o

-- query: over_having_without_group
SELECT sum(amount) OVER () AS n FROM orders HAVING count(*) > 1

-- query: where_window
SELECT status FROM orders WHERE rank() OVER (ORDER BY amount) = 1

-- query: where_alias_of_window
SELECT rank() OVER (ORDER BY amount) AS r FROM orders WHERE r = 1

-- query: join_on_window
SELECT o.status FROM orders o JOIN customers c ON rank() OVER (ORDER BY o.amount) = c.customer_id

-- query: windowed_groups_by_position_and_alias
SELECT date_trunc('month', ordered_at) AS mth, sum(amount) AS rev, lag(rev) OVER (ORDER BY mth) AS prev FROM orders GROUP BY 1 ORDER BY prev

-- query: windowed_groups_by_position_raw
SELECT date_trunc('month', ordered_at) AS mth, lag(sum(amount)) OVER (ORDER BY ordered_at) AS prev FROM orders GROUP BY 1

-- query: pipe_aggregate_with_window
FROM orders |> AGGREGATE sum(sum(amount)) OVER () AS s GROUP BY status

-- query: pipe_window_in_where
FROM orders |> WHERE rank() OVER (ORDER BY amount) = 1

-- query: pipe_order_by_window
FROM orders |> SELECT status |> ORDER BY rank() OVER (ORDER BY status)

-- query: lag_offset_of_aggregate
SELECT order_date, lag(sum(quantity), count(*)) OVER (ORDER BY order_date) AS l FROM orders GROUP BY order_date

-- query: ntile_of_aggregate
SELECT order_date, ntile(count(*)) OVER (ORDER BY order_date) AS l FROM orders GROUP BY order_date

-- query: coalesce_of_key_differs_in_over
SELECT coalesce(status, 'none') AS s, rank() OVER (ORDER BY coalesce(status, 'other')) AS r FROM orders GROUP BY coalesce(status, 'none')

-- query: undefined_named_window
SELECT status, rank() OVER nope AS r FROM orders GROUP BY status

-- query: having_ungrouped_beside_window
SELECT status, rank() OVER (ORDER BY count(*)) AS r FROM orders GROUP BY status HAVING quantity = 1

-- query: order_by_selected_aggregate_beside_window
SELECT status, count(*) AS n, rank() OVER (ORDER BY count(*)) AS r FROM orders GROUP BY status ORDER BY count(*)

-- query: order_by_aggregate_of_key_beside_window
SELECT status, rank() OVER (ORDER BY count(*)) AS r FROM orders GROUP BY status ORDER BY max(status)

-- query: order_by_expression_key_beside_window
SELECT rank() OVER (ORDER BY count(*)) AS r FROM orders GROUP BY upper(status) ORDER BY upper(status)

-- query: order_by_selected_expression_key_beside_window
SELECT upper(status) AS u, rank() OVER (ORDER BY count(*)) AS r FROM orders GROUP BY upper(status) ORDER BY upper(status)

-- query: order_by_global_aggregate_beside_window
SELECT sum(sum(amount)) OVER () AS s FROM orders ORDER BY sum(amount)

-- query: order_by_nested_key_beside_window
SELECT rank() OVER (ORDER BY count(*)) AS r FROM customers GROUP BY address.city ORDER BY address.city

-- query: sort_by_window_in_group
SELECT status, count(*) AS n FROM orders GROUP BY status SORT BY rank() OVER (ORDER BY count(*))

-- query: distinct_then_order_by_aggregate
SELECT DISTINCT status, count(*) AS n FROM orders GROUP BY status ORDER BY count(*)

-- query: pipe_extend_window_of_aggregate
FROM orders |> EXTEND sum(sum(amount)) OVER () AS r

-- query: pipe_select_plain_aggregate
FROM orders |> SELECT count(*) AS n

-- query: pipe_select_aggregate_beside_window
FROM orders |> SELECT sum(amount) + sum(amount) OVER () AS n

-- query: pipe_aggregate_window_of_rank
FROM orders |> AGGREGATE rank() OVER (ORDER BY sum(amount)) AS r GROUP BY status

-- query: date_trunc_key_case
SELECT date_trunc('MONTH', ordered_at) AS s, count(*) AS n FROM orders GROUP BY date_trunc('month', ordered_at)
