-- query: transform_outer
SELECT transform(sizes, x -> x + price) AS t FROM products

-- query: transform_null
SELECT transform(sizes, x -> NULL) AS t FROM products

-- query: transform_shadow_qualified
SELECT transform(sizes, price -> products.price + price) AS t FROM products

-- query: transform_nested_outer
SELECT transform(matrix, r -> transform(r, c -> c + customer_id)) AS t FROM events

-- query: transform_case_insensitive
SELECT transform(sizes, X -> x + 1) AS t FROM products

-- query: transform_of_aggregate_key
SELECT category, transform(collect_list(price), x -> concat(category, x)) AS t FROM products GROUP BY category

-- query: transform_in_group_by
SELECT transform(sizes, x -> x + 1) AS t, count(*) AS n FROM products GROUP BY transform(sizes, x -> x + 1)

-- query: transform_in_group_by_renamed
SELECT transform(sizes, x -> x + 1) AS t, count(*) AS n FROM products GROUP BY transform(sizes, y -> y + 1)

-- query: transform_in_join
SELECT a.sku FROM products a JOIN products b ON exists(a.sizes, x -> x = b.product_id)

-- query: lambda_field_access
SELECT transform(array(map('a', 1)), m -> m.a) AS t

-- query: filter_index
SELECT filter(sizes, (x, i) -> i > 0) AS t FROM products

-- query: exists_plain
SELECT exists(sizes, x -> x > price) AS t FROM products

-- query: aggregate_plain
SELECT aggregate(sizes, 0, (a, x) -> a + x) AS t FROM products

-- query: aggregate_decimal_cast
SELECT aggregate(transform(items, i -> i.price), CAST(0 AS DECIMAL(10,2)), (a, x) -> CAST(a + x AS DECIMAL(10,2))) AS t FROM events

-- query: aggregate_nullable
SELECT aggregate(sizes, 0, (a, x) -> 1) AS t FROM products

-- query: zip_with_plain
SELECT zip_with(sizes, tags_, (a, b) -> concat(b, a)) AS t FROM (SELECT sizes, array('x') AS tags_ FROM products)

-- query: map_filter_plain
SELECT map_filter(attributes, (k, v) -> k = sku) AS t FROM products

-- query: transform_values_plain
SELECT transform_values(properties, (k, v) -> v.weight * 2) AS t FROM events

-- query: map_zip_with_key_widen
SELECT map_zip_with(map(1, 2), map(2L, 2), (k, a, b) -> k) AS t

-- query: array_sort_outer
SELECT array_sort(sizes, (a, b) -> (a - b) * product_id) AS t FROM products

-- query: lambda_quoted_name
SELECT transform(sizes, `my x` -> `my x` + 1) AS t FROM products

-- query: lambda_case
SELECT transform(tags, t -> CASE WHEN t IS NULL THEN name ELSE t END) AS t FROM customers

-- query: lambda_like
SELECT filter(tags, x -> x LIKE name || '%') AS t FROM customers

-- query: lambda_chain
SELECT array_max(filter(transform(sizes, x -> x * 2), y -> y > 3)) AS t FROM products

-- query: lambda_in_filter_clause
SELECT count(*) FILTER (WHERE exists(sizes, x -> x > 1)) AS s FROM products

-- query: array_sort_value
SELECT array_sort(sizes, 1) AS t FROM products

-- query: exists_of_null_array
SELECT exists(CAST(NULL AS ARRAY<INT>), x -> x > 1) AS t

-- query: lambda_param_like_column
SELECT category, transform(collect_list(price), sku -> sku + 1) AS t FROM products GROUP BY category

-- query: lambda_nested_same_array
SELECT transform(sizes, x -> aggregate(sizes, x, (a, y) -> a + y)) AS t FROM products

-- query: lambda_map_keys_nullable
SELECT transform_keys(attributes, (k, v) -> v) AS t FROM products

-- query: lambda_bracket_outer
SELECT transform(array(0, 1), i -> sizes[i]) AS t FROM products

-- query: lambda_coalesce
SELECT transform(tags, x -> coalesce(x, name)) AS t FROM customers

-- query: lambda_not
SELECT filter(tags, x -> NOT x = 'a') AS t FROM customers

-- query: lambda_decimal
SELECT transform(items, i -> i.price * 1.1) AS t FROM events

-- query: lambda_explode
SELECT explode(transform(sizes, x -> struct(x AS a, sku AS b))) AS e FROM products

-- query: lambda_in_in_subquery
SELECT sku FROM products WHERE size(filter(sizes, x -> x > 1)) IN (SELECT week FROM calendar)

-- query: lambda_in_cluster
SELECT sku FROM products CLUSTER BY exists(sizes, x -> x = 1)

-- query: lambda_unaliased_nested
SELECT transform(matrix, r -> filter(r, c -> c > 1)) FROM events

-- query: aggregate_map_state
SELECT aggregate(sizes, map('n', 0), (a, x) -> map('n', a['n'] + x)) AS t FROM products

-- query: zip_with_nullable
SELECT zip_with(sizes, array(1), (a, b) -> a) AS t, zip_with(array(1), array('x'), (a, b) -> struct(a, b)) AS u FROM products

-- query: forall_null
SELECT forall(tags, x -> NULL) AS t FROM customers
