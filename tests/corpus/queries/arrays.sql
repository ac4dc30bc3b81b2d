-- query: basics
SELECT size(sizes) AS a, cardinality(tags) AS b, array_size(tags) AS c, element_at(sizes, 1) AS d, try_element_at(tags, 1) AS e, get(sizes, 0) AS f, sizes[1] AS g, array_contains(sizes, 1) AS h, array_contains(tags, 'x') AS j, array_position(tags, 'x') AS k FROM products CROSS JOIN customers

-- query: building
SELECT array(1, quantity) AS a, array_repeat(status, 2) AS b, array_repeat(1, quantity) AS c, sequence(1, 3) AS d, array(order_id, quantity) AS e, array(array(quantity)) AS f, array_compact(array(status, 'x')) AS g FROM orders

-- query: changing
SELECT array_append(sizes, 1) AS a, array_prepend(sizes, NULL) AS b, array_insert(sizes, 1, 5) AS c, array_remove(tags, 'x') AS d, array_distinct(tags) AS e, reverse(sizes) AS f, slice(sizes, 1, 2) AS g, shuffle(sizes) AS h, concat(sizes, array(1)) AS j, flatten(matrix) AS k FROM products CROSS JOIN customers CROSS JOIN events

-- query: changing_without_nulls
SELECT array_append(array(1), 2) AS a, array_append(array(1), NULL) AS b, array_insert(array(1), 5, 2) AS c, concat(array(1), array(2)) AS d, concat(array(1), array(NULL)) AS e, array_remove(array(1), 1) AS f, array_compact(array(1, NULL)) AS g, flatten(array(array(1), array(2))) AS h, slice(array(1), 1, 1) AS j, array_distinct(array(1, NULL)) AS k

-- query: sets
SELECT array_union(sizes, array(1)) AS a, array_intersect(sizes, array(1)) AS b, array_except(sizes, array(1)) AS c, arrays_overlap(sizes, array(1)) AS d, array_union(array(1), array(2)) AS e, array_intersect(array(1), array(NULL)) AS f, array_except(array(1), array(2)) AS g, array_union(array(1), array(2L)) AS h FROM products

-- query: sorting
SELECT sort_array(tags) AS a, sort_array(sizes, false) AS b, array_sort(tags) AS c, array_sort(sizes, (x, y) -> y - x) AS d, array_sort(array(3, 1)) AS e, array_min(sizes) AS f, array_max(tags) AS g, array_min(array(1, 2)) AS h FROM customers CROSS JOIN products

-- query: joining
SELECT array_join(tags, ',') AS a, array_join(tags, ',', 'none') AS b, array_join(array('a'), '-') AS c, concat_ws(',', tags) AS d, array_join(transform(sizes, x -> CAST(x AS STRING)), ',') AS e FROM customers CROSS JOIN products

-- query: zipping
SELECT arrays_zip(sizes, tags) AS a, arrays_zip(array(1), array('a')) AS b, arrays_zip(sizes, array(1)) AS c, zip_with(sizes, array(1), (x, y) -> x + y) AS d, zip_with(array(1), array(2), (x, y) -> x * y) AS e, arrays_zip(items.qty, items.price) AS f FROM customers CROSS JOIN products CROSS JOIN events

-- query: transform
SELECT transform(sizes, x -> x + 1) AS a, transform(array(1), x -> x * 2) AS b, transform(tags, (x, i) -> concat(x, i)) AS c, transform(items, x -> x.qty * x.price) AS d, transform(items, x -> struct(x.product_id AS id, x.qty)) AS e, transform(sizes, x -> NULL) AS f, transform(matrix, r -> transform(r, c -> c + 1)) AS g FROM products CROSS JOIN customers CROSS JOIN events

-- query: filter
SELECT filter(sizes, x -> x > 1) AS a, filter(tags, x -> x IS NOT NULL) AS b, filter(array(1, 2), (x, i) -> i > 0) AS c, filter(items, x -> x.qty > 1)[0].price AS d, size(filter(items, x -> x.price > 1.5)) AS e FROM products CROSS JOIN customers CROSS JOIN events

-- query: exists_and_forall
SELECT exists(sizes, x -> x > 1) AS a, forall(sizes, x -> x > 1) AS b, exists(array(1), x -> x = 1) AS c, any_match AS d FROM (SELECT sizes, exists(sizes, x -> x IS NULL) AS any_match FROM products)

-- query: aggregate
SELECT aggregate(sizes, 0, (acc, x) -> acc + x) AS a, aggregate(sizes, 0, (acc, x) -> acc + x, acc -> acc * 1.5) AS b, reduce(array(1, 2), 0, (acc, x) -> acc + x) AS c, aggregate(scores, 0D, (acc, x) -> acc + coalesce(x, 0D)) AS d, aggregate(items, CAST(0 AS DECIMAL(20,2)), (acc, x) -> CAST(acc + x.qty * x.price AS DECIMAL(20,2))) AS e FROM products CROSS JOIN events

-- query: lambda_sees_outer_columns
SELECT transform(sizes, x -> x * product_id) AS a, filter(sizes, s -> s > stock) AS b, transform(sizes, product_id -> product_id + 1) AS c FROM products

-- query: nested_lambdas
SELECT transform(matrix, row -> aggregate(row, 0, (a, x) -> a + x)) AS a, filter(matrix, row -> exists(row, x -> x > 1)) AS b, transform(items, i -> filter(array(i.qty, 1), q -> q > 0)) AS c FROM events

-- query: of_structs
SELECT items[0] AS a, items.price AS b, element_at(items, 1).qty AS c, items[0].product_id AS d, array_max(items).price AS e, array_contains(items.product_id, 1) AS f, size(items.qty) AS g, array_sort(items, (l, r) -> l.qty - r.qty)[0].qty AS h FROM events

-- query: coerced_elements
SELECT array_contains(sizes, 1L) AS a, array_position(sizes, 1) AS b, array_append(sizes, 1L) AS c, array_remove(sizes, 1) AS d, element_at(sizes, 1) + 1 AS e, array(1, '2') AS f FROM products

-- query: null_arguments
SELECT size(NULL) AS a, array_join(NULL, ',') AS c, element_at(array(), 1) AS d, array_distinct(array(NULL)) AS e, concat(array(), array(1)) AS f, array_max(array()) AS g, reverse(array()) AS h

-- query: comparisons
SELECT sizes = sizes AS a, sizes <=> array(1) AS b, sizes IN (array(1), array(2)) AS c, greatest(sizes, array(1)) AS d, sizes IS NULL AS e FROM products

-- query: strings_to_arrays
SELECT split(title, ' ') AS a, transform(split(title, ' '), w -> upper(w)) AS b, filter(split(sku, '-'), p -> p <> '') AS c, split(sku, '-')[1] AS d, array_size(split(sku, '-')) AS e FROM products

-- query: nested_access
SELECT matrix[0][0] AS a, element_at(element_at(matrix, 1), 1) AS b, flatten(matrix)[0] AS c, transform(matrix, r -> r[0]) AS d, array(array(1))[0] AS e FROM events

-- query: random
SELECT shuffle(array(1, 2)) AS a, array_repeat(rand(), 3) AS b
