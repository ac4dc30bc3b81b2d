-- query: absolute_and_sign
SELECT abs(i) AS a, abs(d5) AS b, abs(nd) AS c, sign(i) AS e, signum(d5) AS g, negative(l) AS h, positive(d20) AS j, abs(b) AS k FROM numbers

-- query: rounding
SELECT round(d5, 1) AS a, round(d20) AS b, round(d, 2) AS c, round(i) AS e, round(i, -1) AS g, bround(d5, 1) AS h, round(f, 1) AS j, round(d38, 4) AS k, round(l, -2) AS m, round(d5, -1) AS n, round(d5, 5) AS o FROM numbers

-- query: ceil_and_floor
SELECT ceil(d) AS a, floor(d5) AS b, ceiling(d20) AS c, floor(i) AS e, ceil(d5, 1) AS g, floor(d20, -1) AS h, floor(nd) AS j, ceil(l) AS k, floor(f) AS m FROM numbers

-- query: powers_and_roots
SELECT sqrt(i) AS a, cbrt(d) AS b, pow(i, 2) AS c, power(d5, 2) AS e, exp(d) AS g, ln(d) AS h, log(10, d) AS j, log10(i) AS k, log2(l) AS m, log1p(d) AS n, expm1(nd) AS o, hypot(i, l) AS p, log(d) AS q FROM numbers

-- query: trigonometry
SELECT sin(d) AS a, cos(i) AS b, tan(d5) AS c, asin(d) AS e, acos(d) AS g, atan(d) AS h, atan2(d, i) AS j, sinh(d) AS k, cosh(d) AS m, tanh(d) AS n, cot(d) AS o, sec(d) AS p, csc(d) AS q, degrees(d) AS r, radians(d) AS t, pi() AS u, e() AS v, asinh(d) AS w, acosh(d) AS x, atanh(nd) AS y FROM numbers

-- query: integers
SELECT factorial(i) AS a, bin(l) AS b, conv('ff', 16, 10) AS c, shiftleft(i, 1) AS e, shiftright(l, 1) AS g, shiftrightunsigned(i, 1) AS h, bit_count(l) AS j, getbit(i, 0) AS k, bit_get(l, 1) AS m, width_bucket(d, 0, 10, 5) AS n FROM numbers

-- query: random
SELECT rand() AS a, rand(1) AS b, randn() AS c, random() AS d, uniform(1, 10) AS e, uniform(0.0, 1.0) AS f, uniform(1, 10, 5) AS g

-- query: nan
SELECT isnan(d) AS a, isnan(nd) AS b, nanvl(nd, 0) AS c, nanvl(f, d) AS e, isnull(nd) AS g, isnotnull(d) AS h, equal_null(i, ni) AS j, double('NaN') AS k FROM numbers

-- query: rint_and_friends
SELECT rint(d) AS a, rint(i) AS b, try_divide(l, i) AS c, div(i, 2) AS e, mod(d5, 2) AS g, pmod(i, 3) AS h, remainder AS j FROM (SELECT *, i % 3 AS remainder FROM numbers)

-- query: decimals_in_functions
SELECT greatest(d5, d10, d20) AS a, coalesce(d10, d5) AS b, nullif(d5, d20) AS c, if(i > 1, d5, d20) AS e, round(d5 * d20, 2) AS g, abs(d38 - d38) AS h, floor(d5 / 2) AS j, sum(d5 * i) AS k FROM numbers GROUP BY ALL

-- query: literal_precision
SELECT 1.10 + 2.205 AS a, 100 * 1.1 AS b, 1 / 3.0 AS c, 5 / 2 AS d, 10 % 3.5 AS e, -1.5 AS f, 0.5 * 0.5 AS g, 1.0 = 1 AS h, 123456789.123456789 * 987654321.987654321 AS k

-- query: overflow_prone
SELECT d380 * d380 AS a, d380 / d38 AS b, d38 * 1000000 AS c, d380 + 0.5 AS e, l * l AS g, sum(d380) OVER () AS h, avg(d380) OVER () AS j FROM numbers

-- query: mixed_types_in_case
SELECT CASE WHEN i = 1 THEN d5 WHEN i = 2 THEN l ELSE d20 END AS a, CASE WHEN i = 1 THEN f ELSE d5 END AS b, CASE WHEN i = 1 THEN 1 ELSE 2.50 END AS c, CASE WHEN i = 1 THEN b ELSE 1000 END AS e, if(i = 1, d38, l) AS g FROM numbers

-- query: percentages
SELECT round(100.0 * i / l, 2) AS a, CAST(100 * d5 / d20 AS DECIMAL(5,2)) AS b, i * 100 / nullif(ni, 0) AS c, concat(round(d5 / d20 * 100, 1), '%') AS e FROM numbers

-- query: unary_minus_of_literals
SELECT -2147483648 AS a, -9223372036854775808 AS b, - 1 AS c, -(-1) AS d, -1.50 AS e, -1e5 AS f, -3S AS g

-- query: string_literals_as_numbers
SELECT '1' + 1 AS a, '1.5' * 2.0 AS b, -'1' AS c, abs('5') AS d, sqrt('4') AS e, round('1.5') AS f, '5' % 2 AS g
