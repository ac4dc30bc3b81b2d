-- query: access
SELECT attributes['color'] AS a, element_at(attributes, 'x') AS b, try_element_at(attributes, 'x') AS c, attributes.color AS d, options['a'] AS e, options['a'][0] AS f, properties['p'].value AS g, element_at(map(1, 'a'), 1) AS h FROM products CROSS JOIN order_lines CROSS JOIN events

-- query: parts
SELECT map_keys(attributes) AS a, map_values(attributes) AS b, map_entries(attributes) AS c, size(attributes) AS d, cardinality(options) AS e, map_contains_key(attributes, 'x') AS f, map_keys(map('a', 1)) AS g, map_values(map('a', 1)) AS h, map_entries(map('a', NULL)) AS j FROM products CROSS JOIN order_lines

-- query: building
SELECT map('a', 1, 'b', 2) AS a, map(sku, title) AS b, map_from_arrays(array('a'), array(1)) AS c, map_from_arrays(sizes, sizes) AS d, map_from_entries(array(struct('a', 1))) AS e, map_from_entries(map_entries(attributes)) AS f, str_to_map(sku) AS g, str_to_map(title, ',', '=') AS h FROM products

-- query: changing
SELECT map_concat(attributes, map('a', 'b')) AS a, map_concat(map('a', 1), map('b', NULL)) AS b, map_filter(attributes, (k, v) -> v IS NOT NULL) AS c, transform_keys(attributes, (k, v) -> upper(k)) AS d, transform_values(attributes, (k, v) -> length(v)) AS e, map_zip_with(attributes, map('a', 'x'), (k, a, b) -> concat(a, b)) AS f, map_concat() AS g FROM products

-- query: changing_nested
SELECT transform_values(options, (k, v) -> size(v)) AS a, map_filter(properties, (k, v) -> v.weight > 0.5) AS b, transform_values(properties, (k, v) -> v.value) AS c, transform_keys(properties, (k, v) -> concat(k, v.value)) AS d, map_values(properties)[0].weight AS e FROM order_lines CROSS JOIN events

-- query: transform_not_null
SELECT transform_values(map('a', 1), (k, v) -> v + 1) AS a, transform_keys(map(1, 'a'), (k, v) -> k * 2L) AS b, map_filter(map('a', 1), (k, v) -> true) AS c, map_zip_with(map(1, 2), map(1, 3), (k, a, b) -> a + b) AS d

-- query: mixed_value_types
SELECT map('a', 1, 'b', 2.5) AS a, map('a', array(1), 'b', array(NULL)) AS b, map(1, 'x', 2.5, 'y') AS c, map('a', NULL, 'b', 1) AS d, coalesce(attributes, map()) AS e, coalesce(attributes, map('a', 'b')) AS f FROM products

-- query: structs
SELECT struct(order_id, status) AS a, struct(order_id AS id, amount AS total) AS b, named_struct('id', order_id, 'st', status) AS c, struct(1, 'a', NULL) AS d, struct(o.order_id, upper(status)) AS e, struct(struct(1 AS x) AS inner) AS f FROM orders o

-- query: struct_fields
SELECT struct(1 AS x, NULL AS y).x AS a, named_struct('a', named_struct('b', 1)).a.b AS b, loyalty.points AS c, address.geo.lat AS d, address.geo AS e, loyalty.tier AS f, struct(loyalty.tier AS t).t AS g FROM customers

-- query: struct_comparison
SELECT address = address AS a, loyalty <=> loyalty AS b, struct(1, 2) IN (struct(1, 2)) AS c, greatest(struct(1 AS a), struct(2 AS a)) AS d, struct(1) < struct(2) AS e FROM customers

-- query: struct_in_conditionals
SELECT coalesce(loyalty, named_struct('tier', 'x', 'points', 0, 'since', current_date())) AS a, if(customer_id > 1, address, NULL) AS b, CASE WHEN customer_id > 1 THEN struct(1 AS x) ELSE struct(NULL AS x) END AS c, nullif(address, address) AS d FROM customers

-- query: arrays_of_structs
SELECT array(struct(1 AS a), struct(NULL AS a)) AS a, array(struct(1 AS a), struct(2L AS a)) AS b, collect_list(struct(customer_id, name)) AS c, array(named_struct('k', 'a', 'v', 1)).k AS d FROM customers GROUP BY ALL

-- query: struct_with_duplicate_names
SELECT struct(1 AS a, 2 AS a) AS s, struct(name, name) AS t FROM customers

-- query: struct_star_building
SELECT struct(c.*) AS s, struct(address.*) AS a, struct(address.geo.*, name) AS g FROM customers c

-- query: field_names_by_expression
SELECT struct(customer_id + 1, name, address.city, upper(name) AS u, 5) AS s FROM customers

-- query: map_sorting_and_keys
SELECT sort_array(map_keys(attributes)) AS a, array_sort(map_values(attributes)) AS b, map_from_entries(array_sort(map_entries(attributes))) AS c, exists(map_values(attributes), v -> v = 'x') AS d, transform(map_entries(attributes), e -> e.value) AS e FROM products

-- query: null_maps
SELECT map_keys(NULL) AS a, element_at(map(), 'a') AS b, map_values(map()) AS c, size(map()) AS d

-- query: updates_by_rebuilding
SELECT named_struct('street', address.street, 'city', upper(address.city), 'geo', address.geo) AS address, struct(address.city AS city, loyalty.tier AS tier) AS s FROM customers

-- query: subscript_of_map_by_date
SELECT attributes[DATE '2024-01-01'] FROM products
