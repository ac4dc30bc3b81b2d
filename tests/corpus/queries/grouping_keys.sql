-- query: group_by_parenthesised_pair_selected
SELECT (status, is_gift) AS p, count(*) AS n FROM orders GROUP BY (status, is_gift)

-- query: group_by_struct_of_pair
SELECT struct(status, is_gift) AS p, count(*) AS n FROM orders GROUP BY struct(status, is_gift)

-- query: cast_function_key
SELECT CAST(quantity AS STRING) AS s, count(*) AS n FROM orders GROUP BY string(quantity)

-- query: cast_operator_key
SELECT quantity::string AS s, count(*) AS n FROM orders GROUP BY CAST(quantity AS STRING)

-- query: coalesce_and_nvl_key
SELECT nvl(status, '') AS s, count(*) AS n FROM orders GROUP BY coalesce(status, '')

-- query: year_and_extract_key
SELECT year(order_date) AS s, count(*) AS n FROM orders GROUP BY extract(YEAR FROM order_date)

-- query: upper_and_ucase_key
SELECT ucase(status) AS s, count(*) AS n FROM orders GROUP BY upper(status)

-- query: substring_key
SELECT substr(status, 1, 2) AS s, count(*) AS n FROM orders GROUP BY substring(status, 1, 2)

-- query: substring_from_key
SELECT substring(status FROM 1 FOR 2) AS s, count(*) AS n FROM orders GROUP BY substring(status, 1, 2)

-- query: concat_operator_key
SELECT status || note AS s, count(*) AS n FROM orders GROUP BY concat(status, note)

-- query: not_equal_key
SELECT quantity <> 1 AS s, count(*) AS n FROM orders GROUP BY NOT quantity = 1

-- query: greater_flipped_key
SELECT 1 < quantity AS s, count(*) AS n FROM orders GROUP BY quantity > 1

-- query: and_commuted_key
SELECT is_paid AND is_gift AS s, count(*) AS n FROM orders GROUP BY is_gift AND is_paid

-- query: three_terms_commuted_key
SELECT quantity + order_id + customer_id AS s, count(*) AS n FROM orders GROUP BY customer_id + order_id + quantity

-- query: in_list_key
SELECT status IN ('a', 'b') AS s, count(*) AS n FROM orders GROUP BY status IN ('b', 'a')

-- query: having_selected_then_order_by_aggregate
SELECT is_gift, count(*) AS n FROM orders GROUP BY is_gift HAVING count(*) > 1 ORDER BY sum(amount)

-- query: having_alias_then_order_by_aggregate
SELECT is_gift, count(*) AS n FROM orders GROUP BY is_gift HAVING n > 1 ORDER BY sum(amount)

-- query: having_new_aggregate_then_order_by_alias
SELECT is_gift, count(*) AS n FROM orders GROUP BY is_gift HAVING max(amount) > 1 ORDER BY n, is_gift

-- query: having_new_aggregate_then_order_by_key
SELECT count(*) AS n FROM orders GROUP BY is_gift HAVING max(amount) > 1 ORDER BY is_gift

-- query: having_key_then_order_by_aggregate
SELECT is_gift FROM orders GROUP BY is_gift HAVING is_gift ORDER BY sum(amount)

-- query: having_expression_key_then_order_by_aggregate
SELECT upper(status) AS u FROM orders GROUP BY upper(status) HAVING upper(status) = 'A' ORDER BY sum(amount)

-- query: having_subquery_then_order_by_aggregate
SELECT is_gift FROM orders GROUP BY is_gift HAVING is_gift IN (SELECT is_holiday FROM calendar) ORDER BY sum(amount)

-- query: having_two_aggregates_then_order_by_key
SELECT is_gift FROM orders GROUP BY is_gift HAVING max(amount) > min(amount) ORDER BY is_gift

-- query: order_by_aggregate_without_having
SELECT is_gift FROM orders GROUP BY is_gift ORDER BY sum(amount), count(*) FILTER (WHERE quantity > 1)

-- query: order_by_filter_of_column
SELECT is_gift FROM orders GROUP BY is_gift ORDER BY sum(amount) FILTER (WHERE status = 'a')

-- query: having_filter_of_column
SELECT is_gift FROM orders GROUP BY is_gift HAVING sum(amount) FILTER (WHERE status = 'a') > 1

-- query: having_within_group_array
SELECT is_gift FROM orders GROUP BY is_gift HAVING percentile_cont(array(0.1)) WITHIN GROUP (ORDER BY amount)[0] > 1

-- query: rollup_position_grouping
SELECT status, grouping(status) AS g FROM orders GROUP BY ROLLUP (1)

-- query: rollup_alias_same_name_grouping
SELECT status AS status, grouping(status) AS g FROM orders GROUP BY ROLLUP (status)

-- query: rollup_grouping_order_beside_window
SELECT status, rank() OVER (ORDER BY count(*)) AS r FROM orders GROUP BY ROLLUP (status) ORDER BY grouping(status)

-- query: rollup_mixed_grouping_id
SELECT grouping_id(is_gift, status) AS g FROM orders GROUP BY is_gift, ROLLUP (status)

-- query: hive_sets_grouping_id
SELECT grouping_id(status, is_gift) AS g FROM orders GROUP BY status, is_gift GROUPING SETS ((is_gift), (status))

-- query: sets_grouping_id_appearance
SELECT grouping_id(is_gift, status) AS g FROM orders GROUP BY GROUPING SETS ((is_gift), (status))

-- query: lag_over_cube_key
SELECT quantity, lag(quantity) OVER (ORDER BY quantity) AS l, lag(quantity, 1, 0) OVER (ORDER BY quantity) AS l0, nth_value(quantity, 1) OVER (ORDER BY quantity) AS v FROM orders GROUP BY CUBE (quantity)

-- query: sum_of_aggregate_over_cube
SELECT quantity, sum(sum(amount)) OVER (PARTITION BY quantity ORDER BY quantity) AS s, count(*) OVER () AS n FROM orders GROUP BY CUBE (quantity)

-- query: greatest_commuted
SELECT greatest(quantity, order_id) AS g, count(*) AS n FROM orders GROUP BY greatest(order_id, quantity)

-- query: not_in_key
SELECT status NOT IN ('a', 'b') AS b, count(*) AS n FROM orders GROUP BY NOT status IN ('b', 'a')

-- query: is_null_key
SELECT isnull(status) AS b, count(*) AS n FROM orders GROUP BY status IS NULL

-- query: is_not_null_key
SELECT isnotnull(status) AS b, count(*) AS n FROM orders GROUP BY status IS NOT NULL

-- query: mod_key
SELECT mod(quantity, 2) AS b, count(*) AS n FROM orders GROUP BY quantity % 2

-- query: double_negation_key
SELECT NOT NOT is_gift AS b, count(*) AS n FROM orders GROUP BY is_gift

-- query: decimal_sum_commuted
SELECT amount + discount AS b, count(*) AS n FROM orders GROUP BY discount + amount

-- query: date_add_key
SELECT date_add(order_date, 1) AS b, count(*) AS n FROM orders GROUP BY dateadd(order_date, 1)

-- query: extract_day_key
SELECT day(order_date) AS b, count(*) AS n FROM orders GROUP BY date_part('day', order_date)

-- query: ceiling_key
SELECT ceiling(tax) AS b, power(tax, 2) AS p, count(*) AS n FROM orders GROUP BY ceil(tax), pow(tax, 2)

-- query: nested_or_commuted
SELECT is_gift OR is_paid OR quantity > 1 AS b, count(*) AS n FROM orders GROUP BY quantity > 1 OR is_gift OR is_paid

-- query: not_greater_key
SELECT NOT quantity > 1 AS b, count(*) AS n FROM orders GROUP BY quantity <= 1
