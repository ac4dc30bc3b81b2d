-- query: select_hides
FROM staff |> SELECT name AS n |> WHERE name = 'x'

-- query: select_aggregate
FROM staff |> SELECT sum(salary) AS s

-- query: select_group_by
FROM staff |> SELECT department, count(*) AS n GROUP BY department

-- query: extend_shadow_reference
FROM staff |> EXTEND upper(name) AS name |> SELECT name

-- query: extend_star
FROM staff |> EXTEND *

-- query: set_missing
FROM staff |> SET wage = 1

-- query: set_qualified
FROM staff s |> SET s.salary = 1

-- query: set_aggregate
FROM staff |> SET salary = sum(salary)

-- query: set_ambiguous
FROM orders o |> JOIN order_lines l ON o.order_id = l.order_id |> SET quantity = 1

-- query: set_field
FROM customers |> SET address.city = 'x'

-- query: drop_repeated
FROM staff |> DROP salary, salary

-- query: drop_qualified
FROM staff s |> DROP s.salary

-- query: drop_duplicates
FROM orders o |> JOIN order_lines l ON o.order_id = l.order_id |> DROP order_id

-- query: as_hides
FROM staff |> AS t |> SELECT staff.name

-- query: as_no_keyword
FROM staff |> t

-- query: where_aggregate
FROM staff |> WHERE sum(salary) > 1

-- query: where_after_aggregate_hidden
FROM staff |> AGGREGATE sum(salary) AS s GROUP BY department |> WHERE name = 'x'

-- query: having
FROM staff |> HAVING salary > 1

-- query: limit_negative
FROM staff |> LIMIT -1

-- query: order_by_hidden
FROM staff |> SELECT name |> ORDER BY salary

-- query: order_limit_together
FROM staff |> ORDER BY name LIMIT 3

-- query: aggregate_empty
FROM staff |> AGGREGATE

-- query: aggregate_not_aggregate
FROM staff |> AGGREGATE salary AS s GROUP BY department

-- query: aggregate_key_repeated
FROM staff |> AGGREGATE department, count(*) AS n GROUP BY department

-- query: aggregate_literal
FROM staff |> AGGREGATE 1 AS s GROUP BY department

-- query: aggregate_window
FROM staff |> AGGREGATE sum(salary) OVER () AS s GROUP BY department

-- query: aggregate_all
FROM staff |> AGGREGATE count(*) AS n GROUP BY ALL

-- query: aggregate_sets
FROM staff |> AGGREGATE count(*) AS n GROUP BY GROUPING SETS ((department), ())

-- query: aggregate_rollup
FROM staff |> AGGREGATE count(*) AS n GROUP BY ROLLUP (department)

-- query: aggregate_cube_with
FROM staff |> AGGREGATE count(*) AS n GROUP BY department WITH CUBE

-- query: aggregate_having
FROM staff |> AGGREGATE count(*) AS n GROUP BY department HAVING n > 1

-- query: aggregate_star
FROM staff |> AGGREGATE count(*) AS n, * GROUP BY department

-- query: aggregate_alias_reference
FROM staff |> AGGREGATE count(*) AS n, n + 1 AS m GROUP BY department

-- query: join_after_select
FROM staff s |> SELECT name |> JOIN calendar k ON s.salary = k.week

-- query: union_arity
FROM staff |> SELECT name |> UNION ALL SELECT note, status FROM orders

-- query: after_order
SELECT name FROM staff ORDER BY salary |> SELECT name

-- query: unknown
FROM staff |> FROBNICATE name

-- query: where_group
FROM staff |> WHERE salary > 1 GROUP BY name

-- query: select_where
FROM staff |> SELECT name WHERE name = 'x'

-- query: order_offset_together
FROM staff |> ORDER BY name OFFSET 3

-- query: order_by_aggregate
FROM staff |> ORDER BY count(*)

-- query: order_by_exists
FROM staff |> ORDER BY EXISTS (SELECT 1 FROM orders)

-- query: set_no_value
FROM staff |> SET salary

-- query: set_star
FROM staff |> SET * = 1

-- query: set_after_set_qualified
FROM staff s |> SET salary = 1, name = s.salary

-- query: drop_star
FROM staff |> DROP *

-- query: drop_parens
FROM staff |> DROP (salary)

-- query: extend_dup_reference
FROM staff |> EXTEND 1 AS one, 2 AS one |> SELECT one

-- query: extend_struct_star
FROM customers |> EXTEND address.*

-- query: extend_lateral_window
FROM staff |> EXTEND salary + 1 AS p, sum(p) OVER () AS q

-- query: extend_generator_two
FROM events |> EXTEND posexplode(scores) AS (p, s)

-- query: select_empty
FROM staff |> SELECT

-- query: aggregate_group_aggregate
FROM staff |> AGGREGATE count(*) AS n GROUP BY max(salary)

-- query: aggregate_group_window
FROM staff |> AGGREGATE count(*) AS n GROUP BY rank() OVER (ORDER BY name)

-- query: as_first_hidden
FROM staff |> AS a |> AS b |> SELECT a.name

-- query: union_missing
FROM staff |> UNION ALL

-- query: sample_percent_bad
FROM staff |> TABLESAMPLE (150 PERCENT)

-- query: after_limit
SELECT name FROM staff LIMIT 1 |> SELECT name
