-- query: boolean_plus_integer
SELECT is_gift + 1 FROM orders

-- query: date_plus_date
SELECT order_date + due_date FROM orders

-- query: date_times_integer
SELECT order_date * 2 FROM orders

-- query: string_minus_boolean
SELECT status - is_gift FROM orders

-- query: date_against_boolean
SELECT order_id FROM orders WHERE order_date > is_gift

-- query: date_against_integer
SELECT order_id FROM orders WHERE order_date = 20240101

-- query: array_against_string
SELECT tags = 'x' FROM customers

-- query: map_comparison
SELECT attributes = attributes FROM products

-- query: map_ordering
SELECT product_id FROM products ORDER BY attributes

-- query: variant_comparison
SELECT body = body FROM events

-- query: struct_against_integer
SELECT address = 1 FROM customers

-- query: structs_of_unequal_length
SELECT struct(1, 2) = struct(1)

-- query: not_of_integer
SELECT NOT quantity FROM orders

-- query: and_of_integer
SELECT is_gift AND quantity FROM orders

-- query: where_of_integer
SELECT order_id FROM orders WHERE quantity

-- query: where_of_string
SELECT order_id FROM orders WHERE status

-- query: join_on_integer
SELECT o.order_id FROM orders o JOIN customers c ON o.customer_id

-- query: case_of_string_and_array
SELECT CASE WHEN is_gift THEN 'x' ELSE array(1) END FROM orders

-- query: case_of_date_and_integer
SELECT CASE WHEN is_gift THEN order_date ELSE 0 END FROM orders

-- query: case_of_boolean_and_integer
SELECT CASE WHEN is_gift THEN TRUE ELSE 0 END FROM orders

-- query: case_condition_not_boolean
SELECT CASE WHEN quantity THEN 1 END FROM orders

-- query: if_condition_not_boolean
SELECT if(quantity, 1, 2) FROM orders

-- query: if_branches
SELECT if(is_gift, order_date, 1) FROM orders

-- query: coalesce_types
SELECT coalesce(order_date, 1) FROM orders

-- query: coalesce_array_and_string
SELECT coalesce(tags, 'none') FROM customers

-- query: in_list_types
SELECT order_date IN (1, 2) FROM orders

-- query: between_types
SELECT order_date BETWEEN 1 AND 2 FROM orders

-- query: sum_of_boolean
SELECT sum(is_gift) FROM orders

-- query: sum_of_date
SELECT sum(order_date) FROM orders

-- query: max_of_map
SELECT max(attributes) FROM products

-- query: upper_of_array
SELECT upper(tags) FROM customers

-- query: length_of_map
SELECT length(attributes) FROM products

-- query: abs_of_boolean
SELECT abs(is_gift) FROM orders

-- query: round_of_date
SELECT round(order_date) FROM orders

-- query: year_of_integer
SELECT year(quantity) FROM orders

-- query: explode_of_string
SELECT explode(status) FROM orders

-- query: size_of_string
SELECT size(status) FROM orders

-- query: element_at_of_string
SELECT element_at(status, 1) FROM orders

-- query: array_contains_types
SELECT array_contains(tags, array(1)) FROM customers

-- query: array_of_date_and_integer
SELECT array(order_date, 1) FROM orders

-- query: map_of_map_keys
SELECT map(attributes, 1) FROM products

-- query: map_odd_arguments
SELECT map('a', 1, 'b')

-- query: subscript_of_integer
SELECT quantity[0] FROM orders

-- query: subscript_of_array_by_string
SELECT sizes['x'] FROM products

-- query: filter_lambda_not_boolean
SELECT filter(sizes, x -> x + 1) FROM products

-- query: transform_of_map
SELECT transform(attributes, x -> x) FROM products

-- query: lambda_outside_function
SELECT upper(x -> x) FROM orders

-- query: aggregate_accumulator_type
SELECT aggregate(sizes, 0, (acc, x) -> acc + 1.5) FROM products

-- query: lambda_of_wrong_arity
SELECT transform(sizes, (a, b, c) -> a) FROM products

-- query: cast_date_to_integer
SELECT CAST(order_date AS INT) FROM orders

-- query: cast_array_to_integer
SELECT CAST(sizes AS INT) FROM products

-- query: cast_boolean_to_date
SELECT CAST(is_gift AS DATE) FROM orders

-- query: cast_integer_to_array
SELECT CAST(quantity AS ARRAY<INT>) FROM orders

-- query: cast_struct_of_other_length
SELECT CAST(struct(1, 2) AS STRUCT<a: INT>)

-- query: cast_to_unknown_type
SELECT CAST(quantity AS NUMBER) FROM orders

-- query: cast_to_decimal_too_precise
SELECT CAST(quantity AS DECIMAL(39, 2)) FROM orders

-- query: cast_to_decimal_scale_too_large
SELECT CAST(quantity AS DECIMAL(5, 6)) FROM orders

-- query: try_cast_of_boolean_to_date
SELECT TRY_CAST(is_gift AS DATE) FROM orders

-- query: too_few_arguments
SELECT substring(status) FROM orders

-- query: too_many_arguments
SELECT upper(status, note) FROM orders

-- query: no_arguments
SELECT sum() FROM orders

-- query: coalesce_nothing
SELECT coalesce()

-- query: interval_plus_integer
SELECT INTERVAL 1 DAY + 1

-- query: interval_kinds_mixed
SELECT INTERVAL 1 MONTH + INTERVAL 1 DAY

-- query: timestamp_plus_integer
SELECT ordered_at + 1 FROM orders

-- query: interval_times_interval
SELECT lead_time * lead_time FROM products

-- query: interval_comparison
SELECT lead_time > warranty FROM products

-- query: like_of_integer_array
SELECT sizes LIKE 'x' FROM products

-- query: concat_array_and_string
SELECT concat(tags, 'x') FROM customers

-- query: greatest_of_mixed
SELECT greatest(order_date, 1) FROM orders

-- query: nullif_of_mixed
SELECT nullif(order_date, TRUE) FROM orders

-- query: bad_date_literal
SELECT DATE '2024-13-01'

-- query: bad_timestamp_literal
SELECT TIMESTAMP 'yesterday at noon'

-- query: bad_interval_literal
SELECT INTERVAL 'x' DAY

-- query: bad_binary_literal
SELECT X'0G'

-- query: tinyint_literal_out_of_range
SELECT 128Y

-- query: bigint_literal_out_of_range
SELECT 9223372036854775808L

-- query: decimal_literal_too_long
SELECT 1234567890123456789012345678901234567890.5

-- query: unsupported_typed_literal
SELECT GEO '1 2'

-- query: from_json_schema_not_constant
SELECT from_json(payload, event_type) FROM events

-- query: from_json_bad_schema
SELECT from_json(payload, 'a INTT') FROM events

-- query: limit_of_column
SELECT order_id FROM orders LIMIT quantity

-- query: limit_negative
SELECT order_id FROM orders LIMIT -1

-- query: limit_of_string
SELECT order_id FROM orders LIMIT 'x'

-- query: offset_negative
SELECT order_id FROM orders OFFSET -2

-- query: percentile_out_of_range
SELECT percentile(quantity, 1.5) FROM orders

-- query: ntile_of_column
SELECT ntile(quantity) OVER (ORDER BY order_id) FROM orders

-- query: range_of_string
SELECT * FROM range('a')

-- query: stack_of_mixed
SELECT stack(2, 1, 'a')  + 1

-- query: named_struct_odd
SELECT named_struct('a', 1, 'b')

-- query: named_struct_name_not_string
SELECT named_struct(1, 'a')

-- query: unknown_argument_name
SELECT mask('abc', colour => 'X')

-- query: variant_in_group_by
SELECT body, count(*) FROM events GROUP BY body

-- query: map_in_distinct
SELECT DISTINCT attributes FROM products

-- query: date_trunc_of_boolean
SELECT date_trunc('DAY', is_gift) FROM orders

-- query: extract_unknown_field
SELECT extract(FORTNIGHT FROM order_date) FROM orders

-- query: array_join_of_integers
SELECT array_join(matrix, ',') FROM events

-- query: collated_comparison
SELECT 'a' COLLATE UTF8_LCASE = 'b' COLLATE UNICODE

-- query: unknown_collation
SELECT 'a' COLLATE KLINGON

-- query: union_of_integer_and_fraction_arrays
SELECT array_union(sizes, array(1.5)) FROM products

-- query: array_contains_of_null
SELECT array_contains(NULL, 1)

-- query: division_of_strings
SELECT '7' / '2'

-- query: two_time_windows
SELECT window(ordered_at, '10 minutes') AS w, window(ordered_at, '1 hour').start AS s FROM orders

-- query: struct_equality_of_other_names
SELECT struct(amount, status) = struct(discount, note) AS a FROM orders

-- query: where_null
SELECT order_id FROM orders WHERE NULL

-- query: filter_null
SELECT sum(amount) FILTER (WHERE NULL) AS s FROM orders

-- query: case_when_null
SELECT min(CASE WHEN NULL THEN quantity END) AS m FROM orders

-- query: key_of_empty_map
SELECT map()['a'] AS a

-- query: pair_in_pairs_of_other_types
SELECT (amount, status) IN ((1, 'a'), (2, note)) AS a FROM orders

-- query: decimal_of_a_name
SELECT CAST(quantity AS DECIMAL(priority, 2)) AS a FROM orders
