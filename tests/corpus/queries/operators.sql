-- query: integer_arithmetic
SELECT b + b AS bb, b + s AS bs, s + i AS si, i + l AS il, i - ni AS ini, i * i AS ii, -b AS nb, +s AS ps FROM numbers

-- query: integer_division_and_remainder
SELECT i / i AS a, i % i AS b, i DIV i AS c, b DIV s AS d, l % b AS e, s / l AS f, mod(i, 2) AS g, pmod(i, l) AS h FROM numbers

-- query: float_arithmetic
SELECT f + f AS a, f + i AS b, f + l AS c, f + d AS d, d + l AS e, f / f AS g, f % f AS h, d5 + d AS j, d5 + f AS k FROM numbers

-- query: decimal_addition
SELECT d5 + d5 AS a, d5 + d10 AS b, d20 + d38 AS c, d38 + d38 AS e, d380 + d38 AS f, d5 - d20 AS g, d380 - 1 AS h FROM numbers

-- query: decimal_multiplication
SELECT d5 * d5 AS a, d5 * d10 AS b, d20 * d20 AS c, d38 * d38 AS e, d380 * d5 AS f, d20 * d38 AS g FROM numbers

-- query: decimal_division
SELECT d5 / d5 AS a, d5 / d10 AS b, d20 / d20 AS c, d38 / d38 AS e, d380 / d5 AS f, d5 / 3 AS g, 1 / d20 AS h FROM numbers

-- query: decimal_remainder
SELECT d5 % d5 AS a, d5 % d10 AS b, d20 % d38 AS c, d380 % 7 AS e, d5 DIV d10 AS f, d20 DIV 2 AS g, pmod(d5, d20) AS h FROM numbers

-- query: decimal_with_integer_columns
SELECT d5 + b AS a, d5 + s AS c, d5 + i AS e, d5 + l AS g, d20 * i AS h, d20 / l AS j, i * d5 AS k FROM numbers

-- query: decimal_with_integer_literals
SELECT d5 + 1 AS a, d5 * 10 AS b, d5 / 100 AS c, d20 - 1000 AS e, 1 - d5 AS f, d5 + 1L AS g, d5 * CAST(10 AS INT) AS h, d5 + 1S AS i2, d5 + 1Y AS j FROM numbers

-- query: decimal_with_decimal_literals
SELECT d5 + 1.5 AS a, d5 * 0.01 AS b, d20 / 1.10 AS c, 1.0 - d5 AS e, 1.5 * 2.25 AS f, 1.0 / 3 AS g, 2 * 3.0 AS h FROM numbers

-- query: strings_in_arithmetic
SELECT i + '1' AS a, l + '1' AS b, d + '1.5' AS c, d5 + '1' AS e, f * '2' AS g, s + '1' AS h FROM numbers

-- query: string_column_in_arithmetic
SELECT status + 1 AS a, amount * status AS b, quantity - note AS c, tax / status AS d FROM orders

-- query: null_in_arithmetic
SELECT i + NULL AS a, NULL * d5 AS b, NULL + NULL AS c, -CAST(NULL AS INT) AS e FROM numbers

-- query: bitwise
SELECT i & 1 AS a, i | ni AS b, i ^ 3 AS c, ~i AS d1, b & s AS e, l | i AS g, i << 2 AS h, l >> 1 AS j, i >>> 1 AS k FROM numbers

-- query: comparisons
SELECT i = l AS a, i < d5 AS b, ni >= 3 AS c, i <> 1 AS e, i != 1 AS f, i <=> ni AS g, NULL <=> ni AS h, d5 == d20 AS j FROM numbers

-- query: comparisons_with_strings
SELECT i = '1' AS a, order_date > '2024-01-01' AS b, ordered_at <= '2024-01-01 00:00:00' AS c, is_gift = 'true' AS d1, status = 'new' AS e, amount > '10.5' AS g FROM orders CROSS JOIN numbers

-- query: date_and_timestamp_comparisons
SELECT order_date = ordered_at AS a, order_date < current_date() AS b, shipped_at > ordered_at AS c, at > ordered_at AS d1, at >= order_date AS e FROM orders CROSS JOIN events

-- query: boolean_logic
SELECT is_gift AND is_paid AS a, is_gift OR is_gift AS b, NOT is_paid AS c, is_gift AND NULL AS d1, NULL OR is_gift AS e, !is_gift AS g FROM orders

-- query: is_predicates
SELECT status IS NULL AS a, status IS NOT NULL AS b, is_paid IS TRUE AS c, is_paid IS NOT TRUE AS d1, is_paid IS FALSE AS e, is_paid IS UNKNOWN AS g, is_paid IS NOT UNKNOWN AS h, discount IS NOT DISTINCT FROM 0.1 AS j, status IS DISTINCT FROM note AS k FROM orders

-- query: between
SELECT quantity BETWEEN 1 AND 10 AS a, amount NOT BETWEEN 1 AND 10.5 AS b, order_date BETWEEN '2024-01-01' AND due_date AS c, status BETWEEN 'a' AND 'b' AS d1 FROM orders

-- query: in_lists
SELECT quantity IN (1, 2, 3) AS a, status IN ('a', NULL) AS b, amount NOT IN (1, 2.5) AS c, order_date IN ('2024-01-01', due_date) AS d1, quantity IN (1L, 2.0) AS e, (quantity, is_gift) IN ((1, true), (2, false)) AS g FROM orders

-- query: like_family
SELECT status LIKE 'a%' AS a, status NOT LIKE '%x' AS b, note ILIKE 'A%' AS c, status RLIKE '^a' AS d1, name LIKE 'a\\_%' ESCAPE '\\' AS e, note REGEXP 'x+' AS g, name LIKE ALL ('a%', '%b') AS h, note LIKE ANY ('a', 'b') AS j, name NOT ILIKE 'z%' AS k, name LIKE SOME ('x%') AS m FROM orders JOIN customers USING (customer_id)

-- query: concatenation
SELECT status || '-' || order_id AS a, name || name AS b, 'a' || NULL AS c, tags || array('x') AS d1, photo || X'00' AS e, status || 1 AS g FROM orders JOIN customers USING (customer_id) CROSS JOIN products

-- query: case_searched
SELECT CASE WHEN quantity > 10 THEN 'bulk' WHEN quantity > 1 THEN 'some' ELSE 'one' END AS a, CASE WHEN is_gift THEN 'gift' END AS b, CASE WHEN is_paid THEN amount ELSE 0 END AS c FROM orders

-- query: case_simple
SELECT CASE status WHEN 'a' THEN 1 WHEN 'b' THEN 2L ELSE 3.5 END AS a, CASE quantity WHEN 1 THEN 'x' END AS b, CASE NULL WHEN 1 THEN 2 ELSE 3 END AS c FROM orders

-- query: case_type_widening
SELECT CASE WHEN is_gift THEN quantity ELSE amount END AS a, CASE WHEN is_gift THEN order_date ELSE ordered_at END AS b, CASE WHEN is_gift THEN weight ELSE quantity END AS c, CASE WHEN is_gift THEN priority ELSE region_code END AS d, CASE WHEN is_gift THEN '1' ELSE quantity END AS e, CASE WHEN is_gift THEN discount ELSE 1 END AS f FROM orders

-- query: case_constant_conditions
SELECT CASE WHEN TRUE THEN quantity END AS a, CASE WHEN FALSE THEN status ELSE 'x' END AS b, CASE WHEN is_gift THEN 1 WHEN TRUE THEN 2 ELSE NULL END AS c FROM orders

-- query: case_null_branches
SELECT CASE WHEN is_gift THEN NULL ELSE 1 END AS a, CASE WHEN is_gift THEN NULL END AS b, CASE WHEN is_gift THEN array(1) ELSE array(NULL) END AS c, CASE WHEN is_gift THEN struct(1 AS x) ELSE NULL END AS d FROM orders

-- query: if_family
SELECT if(is_gift, 1, 2) AS a, if(is_paid, 'x', NULL) AS b, nullif(quantity, 0) AS d, ifnull(discount, 0) AS e, nvl(status, 'none') AS f, nvl2(status, 1, 2) AS g, coalesce(discount, tax, 0) AS h, coalesce(status, note) AS j, nullifzero(quantity) AS k, zeroifnull(tax) AS l FROM orders

-- query: coalesce_types
SELECT coalesce(ni, 0) AS a, coalesce(ni, 0L) AS b, coalesce(d10, 0) AS c, coalesce(d5, 1.5) AS e, coalesce(nd, d5) AS g, coalesce(NULL, NULL) AS h, coalesce(NULL, i) AS j, coalesce(nl, d20) AS k, coalesce(f, i) AS m FROM numbers

-- query: coalesce_dates_and_strings
SELECT coalesce(due_date, order_date) AS a, coalesce(shipped_at, ordered_at) AS b, coalesce(due_date, ordered_at) AS c, coalesce(due_date, '2024-01-01') AS d, coalesce(note, 'x') AS e, coalesce(is_paid, false) AS f FROM orders

-- query: greatest_least
SELECT greatest(ni, i) AS a, least(ni, nl) AS b, greatest(d5, d20) AS c, least(i, 2.5) AS e, greatest(1, 2L, 3S) AS g, greatest(due_date, order_date) AS h, least('a', status) AS j FROM numbers CROSS JOIN orders

-- query: subscripts
SELECT sizes[0] AS a, tags[1] AS b, attributes['x'] AS c, items[0].qty AS d, items.qty AS e, items.product_id AS f, properties['p'].weight AS g, matrix[0][1] AS h, matrix[0] AS j, options['k'][0] AS k FROM products CROSS JOIN customers CROSS JOIN events CROSS JOIN order_lines

-- query: subscripts_of_constructors
SELECT array(1, 2)[0] AS a, map('a', 1)['a'] AS b, struct(1 AS x).x AS c, named_struct('y', NULL).y AS d, array(struct(1 AS x))[0].x AS e, array(struct(1 AS x)).x AS f, map(1, array('z'))[1][0] AS g

-- query: comparisons_of_complex_types
SELECT sizes = array(1) AS a, address = address AS b, array(1) < array(2) AS c, struct(1, 'a') = struct(2, 'b') AS d, photo = X'00' AS e, loyalty IS NULL AS f FROM customers CROSS JOIN products

-- query: precedence
SELECT 1 + 2 * 3 AS a, (1 + 2) * 3 AS b, NOT TRUE OR TRUE AS c, 2 * 3 % 4 AS d, 1 + 2 = 3 AS e, 5 - -5 AS f, NOT 1 = 2 AS g, 7 & 3 = 3 AS h

-- query: operators_as_functions
SELECT `+`(1, 2) AS a, `*`(i, 2.5) AS b, `/`(i, 2) AS c, `=`(i, 1) AS e, `and`(true, NULL) AS g, `<=>`(i, NULL) AS h FROM numbers

-- query: try_arithmetic
SELECT try_add(i, 1) AS a, try_subtract(l, i) AS b, try_multiply(d5, d20) AS c, try_divide(i, 0) AS e, try_mod(i, 2) AS g, try_divide(d20, d5) AS h, try_add(order_date, 1) AS j, try_add(ordered_at, INTERVAL 1 DAY) AS k, try_subtract(d5, 1) AS m FROM numbers CROSS JOIN orders

-- query: element_of_constant_array
SELECT element_at(array('a', NULL), 1) AS a, element_at(array(1, 2), 5) AS b, array(1, NULL)[1] AS c, array('a')[0] AS d, try_element_at(array(1), 1) AS e, get(array(1), 0) AS f, element_at(array(quantity, priority), 1) AS g, array(quantity)[quantity] AS h, element_at(map('a', 1), 'a') AS j FROM orders

-- query: struct_equality
SELECT struct(quantity, status) = struct(quantity, status) AS a, struct(quantity AS x) = struct(order_id AS x) AS b, struct(1, 'a') = struct(2L, 'b') AS c FROM orders

-- query: concatenation_among_sums
SELECT '1' || 1 + 2 AS a, 5 - 1 || 2 AS b, 1 | 2 || 3 AS c, 'a' || 'b' = 'ab' AS d, '1' || 2 * 3 AS e, '1' || 1 + 2, status || quantity - 1 FROM orders
