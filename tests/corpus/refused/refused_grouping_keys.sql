-- query: group_by_parenthesised_pair
SELECT status, is_gift, count(*) AS n FROM orders GROUP BY (status, is_gift)

-- query: group_by_struct_field_of_pair
SELECT status, count(*) AS n FROM orders GROUP BY struct(status, is_gift)

-- query: if_function_key
SELECT if(is_gift, 1, 2) AS s, count(*) AS n FROM orders GROUP BY CASE WHEN is_gift THEN 1 ELSE 2 END

-- query: subtraction_commuted_key
SELECT quantity - order_id AS s, count(*) AS n FROM orders GROUP BY order_id - quantity

-- query: literal_type_key
SELECT quantity + 1L AS s, count(*) AS n FROM orders GROUP BY quantity + 1

-- query: median_having
SELECT is_gift FROM orders GROUP BY is_gift HAVING median(amount) > 1 ORDER BY median(quantity)

-- query: filter_having
SELECT is_gift FROM orders GROUP BY is_gift HAVING count(*) FILTER (WHERE quantity > 1) > 1 ORDER BY sum(amount) FILTER (WHERE status = 'a')

-- query: having_new_aggregate_then_order_by_selected
SELECT is_gift, count(*) AS n FROM orders GROUP BY is_gift HAVING max(amount) > 1 ORDER BY count(*)

-- query: having_new_aggregate_then_order_by_same
SELECT is_gift FROM orders GROUP BY is_gift HAVING max(amount) > 1 ORDER BY max(amount)

-- query: having_key_not_selected_then_order_by_aggregate
SELECT count(*) AS n FROM orders GROUP BY is_gift HAVING is_gift ORDER BY sum(amount)

-- query: having_new_aggregate_then_order_by_expression_key
SELECT upper(status) AS u FROM orders GROUP BY upper(status) HAVING count(*) > 1 ORDER BY upper(status)

-- query: having_new_aggregate_then_order_by_count_star
SELECT is_gift FROM orders GROUP BY is_gift HAVING max(amount) > 1 ORDER BY count(*)

-- query: having_global_then_order_by_aggregate
SELECT max(quantity) AS m FROM orders HAVING count(*) > 1 ORDER BY sum(amount)

-- query: having_selected_expression_then_order_by
SELECT is_gift, sum(amount) + 1 AS n FROM orders GROUP BY is_gift HAVING sum(amount) > 1 ORDER BY sum(quantity)

-- query: having_new_aggregate_then_sort_by
SELECT is_gift FROM orders GROUP BY is_gift HAVING max(amount) > 1 SORT BY max(amount)

-- query: rollup_alias_grouping_in_having
SELECT upper(status) AS u, count(*) AS n FROM orders GROUP BY ROLLUP (u) HAVING grouping(u) = 1

-- query: rollup_expression_grouping_in_having
SELECT upper(status) AS u, count(*) AS n FROM orders GROUP BY ROLLUP (upper(status)) HAVING grouping(upper(status)) = 1

-- query: rollup_expression_grouping_in_order
SELECT upper(status) AS u, count(*) AS n FROM orders GROUP BY ROLLUP (upper(status)) ORDER BY grouping(upper(status))

-- query: rollup_mixed_grouping_id_without_plain
SELECT grouping_id(status) AS g FROM orders GROUP BY is_gift, ROLLUP (status)

-- query: first_value_over_cube_key
SELECT quantity, first_value(quantity) OVER (ORDER BY quantity) AS f FROM orders GROUP BY CUBE (quantity)

-- query: sum_of_mixed_over_cube
SELECT quantity, sum(quantity + count(*)) OVER () AS s FROM orders GROUP BY CUBE (quantity)

-- query: group_by_star_struct
SELECT struct(*) AS s, count(*) AS n FROM calendar GROUP BY struct(*)

-- query: between_key
SELECT quantity BETWEEN 1 AND 2 AS b, count(*) AS n FROM orders GROUP BY quantity >= 1 AND quantity <= 2

-- query: decimal_chain_commuted
SELECT amount + discount + 1.5 AS b, count(*) AS n FROM orders GROUP BY 1.5 + discount + amount

-- query: if_and_iff_key
SELECT if(is_gift, 1, 0) AS b, count(*) AS n FROM orders GROUP BY iff(is_gift, 1, 0)

-- query: extract_seconds_key
SELECT second(ordered_at) AS b, count(*) AS n FROM orders GROUP BY extract(SECOND FROM ordered_at)

-- query: multiplication_commuted
SELECT quantity * tax * 2 AS b, count(*) AS n FROM orders GROUP BY 2 * quantity * tax
