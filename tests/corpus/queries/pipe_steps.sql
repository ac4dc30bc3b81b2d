-- query: from
FROM staff

-- query: values
VALUES (1, 2) |> SELECT col1

-- query: select_lateral_alias
FROM staff |> SELECT salary * 2 AS d, d + 1 AS e

-- query: select_generator
FROM customers |> SELECT explode(tags) AS t

-- query: extend_no_alias
FROM staff |> EXTEND salary * 2

-- query: extend_generator
FROM customers |> EXTEND explode(tags) AS t

-- query: extend_qualified
FROM staff s |> EXTEND s.salary * 2 AS d |> SELECT s.name, d

-- query: set_two
FROM staff |> SET salary = 1, name = 'x'

-- query: set_sees_previous
FROM staff |> SET salary = 1, name = salary

-- query: set_repeated
FROM staff |> SET salary = 1, salary = salary + 1

-- query: drop
FROM staff |> DROP salary

-- query: as
FROM staff |> AS t |> SELECT t.name

-- query: where_exists
FROM staff s |> WHERE EXISTS (SELECT 1 FROM orders o WHERE o.note = s.name)

-- query: offset
FROM staff |> OFFSET 1

-- query: sort_by
FROM staff |> SORT BY name

-- query: aggregate
FROM staff |> AGGREGATE sum(salary) AS s

-- query: aggregate_group_two
FROM staff |> AGGREGATE count(*) AS n GROUP BY department, year(hired) AS y

-- query: aggregate_group_number
FROM staff |> AGGREGATE count(*) AS n GROUP BY 1

-- query: aggregate_no_alias
FROM staff |> AGGREGATE count(*), sum(salary) GROUP BY department

-- query: aggregate_twice
FROM staff |> AGGREGATE count(*) AS n GROUP BY department |> AGGREGATE max(n) AS m

-- query: join_natural
FROM orders |> NATURAL JOIN customers |> SELECT customer_id, name

-- query: join_semi
FROM orders o |> LEFT SEMI JOIN customers c ON o.customer_id = c.customer_id

-- query: join_lateral
FROM customers c |> JOIN LATERAL (SELECT amount FROM orders o WHERE o.customer_id = c.customer_id) t |> SELECT name, amount

-- query: comma
FROM staff, calendar |> SELECT name, day

-- query: union_distinct
FROM staff |> SELECT name |> UNION SELECT note FROM orders

-- query: intersect
FROM staff |> SELECT name |> INTERSECT ALL (SELECT note FROM orders)

-- query: pivot
FROM quarterly_sales |> SELECT region, product, q2 |> PIVOT (sum(q2) FOR product IN ('a', 'b'))

-- query: tablesample
FROM staff |> TABLESAMPLE (10 PERCENT)

-- query: after_union
SELECT name FROM staff UNION ALL SELECT note FROM orders |> WHERE name = 'x'

-- query: in_exists
SELECT 1 AS x FROM staff s WHERE EXISTS (FROM orders o |> WHERE o.note = s.name)

-- query: in_union
(FROM staff |> SELECT name) UNION ALL (FROM staff |> SELECT department)

-- query: empty
FROM staff |>

-- query: double
FROM staff |> |> SELECT name

-- query: where_then_alias
FROM staff s |> WHERE s.salary > 1 |> SELECT s.name

-- query: lateral_on
FROM customers c |> JOIN LATERAL (SELECT amount FROM orders o WHERE o.customer_id = c.customer_id) t ON t.amount > 1 |> SELECT name, amount

-- query: lateral_comma
FROM customers c, LATERAL (SELECT amount FROM orders o WHERE o.customer_id = c.customer_id) t |> SELECT name, amount

-- query: lateral_plain_from
FROM customers c JOIN LATERAL (SELECT c.name AS n) t |> WHERE n = 'x' |> SELECT n

-- query: where_limit
FROM staff |> WHERE salary > 1 LIMIT 3

-- query: select_limit
FROM staff |> SELECT name LIMIT 1

-- query: cluster
FROM staff |> CLUSTER BY department

-- query: distribute_sort
FROM staff |> DISTRIBUTE BY department SORT BY name

-- query: offset_limit
FROM staff |> OFFSET 1 LIMIT 2

-- query: set_uses_extend
FROM staff |> EXTEND 1 AS one |> SET one = one + 0.5

-- query: set_generator
FROM customers |> SET tags = explode(tags)

-- query: set_case
FROM staff |> SET SALARY = 1

-- query: set_name_kept
FROM staff |> SET `Salary` = 1

-- query: set_order
FROM staff |> SET name = salary, salary = name

-- query: drop_case
FROM staff |> DROP SALARY

-- query: drop_alias_kept
FROM staff s |> DROP salary |> SELECT s.name

-- query: select_star_extra
FROM staff |> SELECT *, salary * 2 AS d

-- query: select_alias_group
FROM staff |> SELECT department AS d |> AGGREGATE count(*) AS n GROUP BY d

-- query: select_distinct_all
FROM staff |> SELECT ALL name

-- query: aggregate_filter
FROM staff |> AGGREGATE count(*) FILTER (WHERE salary > 1) AS n GROUP BY department

-- query: aggregate_group_number_two
FROM staff |> SELECT department, name |> AGGREGATE count(*) AS n GROUP BY 1, 2

-- query: aggregate_group_number_alias
FROM staff |> AGGREGATE count(*) AS n GROUP BY 6 AS dep

-- query: aggregate_group_map
FROM products |> AGGREGATE count(*) AS n GROUP BY attributes

-- query: aggregate_group_qualified
FROM staff s |> AGGREGATE count(*) AS n GROUP BY s.department |> SELECT s.department, n

-- query: aggregate_where_limit
FROM staff |> AGGREGATE count(*) AS n LIMIT 1

-- query: aggregate_generator
FROM staff |> AGGREGATE explode(collect_list(name)) AS n GROUP BY department

-- query: aggregate_subquery
FROM staff |> AGGREGATE max(salary) + (SELECT 1) AS m

-- query: as_twice
FROM staff |> AS a |> AS b |> SELECT b.name

-- query: join_two
FROM staff a |> JOIN calendar k ON true |> LEFT JOIN orders o ON o.quantity = k.week |> SELECT a.name, o.order_id

-- query: join_anti
FROM staff a |> LEFT ANTI JOIN staff b ON a.manager_id = b.employee_id

-- query: union_two
FROM staff |> SELECT name |> UNION ALL SELECT note FROM orders |> UNION SELECT status FROM orders

-- query: union_table
FROM staff |> UNION ALL TABLE staff

-- query: sample_bucket
FROM staff |> TABLESAMPLE (BUCKET 1 OUT OF 10)

-- query: after_group
SELECT department, count(*) AS n FROM staff GROUP BY department |> WHERE n > 1

-- query: after_with
WITH t AS (SELECT 1 AS a) FROM t |> EXTEND a + 1 AS b

-- query: in_exists_correlated
SELECT name FROM staff s WHERE EXISTS (FROM orders o |> WHERE o.note = s.name |> SELECT 1)

-- query: recursive
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL (FROM n |> WHERE i < 3 |> SELECT i + 1)) FROM n |> AGGREGATE max(i) AS m
