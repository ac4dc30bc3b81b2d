-- query: transform_three
SELECT transform(sizes, (x, i, j) -> x) AS t FROM products

-- query: transform_lambda_first
SELECT transform(x -> x, sizes) AS t FROM products

-- query: transform_not_array
SELECT transform(name, x -> x) AS t FROM customers

-- query: transform_unknown
SELECT transform(sizes, x -> y) AS t FROM products

-- query: transform_struct_star
SELECT transform(items, i -> struct(i.*)) AS t FROM events

-- query: transform_duplicate_names
SELECT transform(sizes, (x, x) -> x) AS t FROM products

-- query: transform_aggregate_inside
SELECT transform(sizes, x -> max(x)) AS t FROM products

-- query: transform_of_aggregate_not_key
SELECT category, transform(collect_list(price), x -> concat(sku, x)) AS t FROM products GROUP BY category

-- query: lambda_outside
SELECT x -> x + 1 AS t FROM products

-- query: lambda_in_plain_function
SELECT upper(x -> x) AS t FROM products

-- query: filter_not_boolean
SELECT filter(sizes, x -> x + 1) AS t FROM products

-- query: filter_in_subquery
SELECT filter(sizes, x -> x IN (SELECT week FROM calendar)) AS t FROM products

-- query: exists_two_names
SELECT exists(sizes, (x, i) -> x > i) AS t FROM products

-- query: aggregate_type_narrow
SELECT aggregate(array(1L), 0, (a, x) -> a + x) AS t

-- query: aggregate_one_name
SELECT aggregate(sizes, 0, a -> a) AS t FROM products

-- query: aggregate_array_state
SELECT aggregate(sizes, array(), (a, x) -> array_append(a, x)) AS t FROM products

-- query: zip_with_one_name
SELECT zip_with(sizes, sizes, a -> a) AS t FROM products

-- query: map_filter_one_name
SELECT map_filter(attributes, k -> true) AS t FROM products

-- query: transform_keys_map
SELECT transform_keys(attributes, (k, v) -> map(k, v)) AS t FROM products

-- query: map_zip_with_key_types
SELECT map_zip_with(map(1, 2), map('a', 2), (k, a, b) -> k) AS t

-- query: array_sort_boolean
SELECT array_sort(sizes, (a, b) -> a > b) AS t FROM products

-- query: array_sort_null
SELECT array_sort(sizes, (a, b) -> NULL) AS t FROM products

-- query: lambda_qualified_name
SELECT transform(sizes, a.b -> 1) AS t FROM products

-- query: lambda_table_alias_shadow_column
SELECT transform(items, e -> e.event_id) AS t FROM events e

-- query: lambda_wrong_function
SELECT transform(sizes, x -> nothing(x)) AS t FROM products

-- query: lambda_dotted_function
SELECT sizes.transform(x -> x) AS t FROM products

-- query: aggregate_lambda_second
SELECT aggregate(sizes, x -> x, (a, x) -> a + x) AS t FROM products

-- query: filter_lambda_first
SELECT filter(x -> true, sizes) AS t FROM products

-- query: filter_two_lambdas
SELECT filter(sizes, x -> true, y -> true) AS t FROM products

-- query: transform_of_null
SELECT transform(NULL, x -> x) AS t

-- query: lambda_group_missing
SELECT transform(sizes, x -> x + stock) AS t, count(*) AS n FROM products GROUP BY sizes

-- query: lambda_no_group_missing
SELECT transform(collect_list(price), x -> x + stock) AS t FROM products

-- query: lambda_having_missing
SELECT sizes FROM products GROUP BY sizes HAVING exists(sizes, x -> x > stock)

-- query: lambda_map_filter_not_boolean
SELECT map_filter(attributes, (k, v) -> v) AS t FROM products

-- query: lambda_parens
SELECT transform(sizes, (x) -> (x + 1)) AS t FROM products

-- query: aggregate_null_start
SELECT aggregate(sizes, NULL, (a, x) -> x) AS t FROM products

-- query: aggregate_int_double
SELECT aggregate(scores, 0, (a, x) -> a + x) AS t FROM events

-- query: reduce_three_names
SELECT reduce(sizes, 0, (a, x, y) -> a) AS t FROM products

-- query: forall_text
SELECT forall(tags, x -> x) AS t FROM customers
