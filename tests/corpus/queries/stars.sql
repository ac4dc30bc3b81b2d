-- query: count_star_and_column
SELECT count(o.*, o.quantity) AS n FROM orders o

-- query: count_star_and_literal
SELECT count(*, 1) AS n FROM orders o

-- query: count_two_stars
SELECT count(o.*, c.*) AS n FROM orders o JOIN customers c ON true

-- query: count_distinct_star_map
SELECT count(DISTINCT *) AS n FROM products

-- query: count_star_struct
SELECT count(c.address.*) AS n FROM customers c

-- query: count_star_except
SELECT count(* EXCEPT (note)) AS n FROM orders

-- query: struct_star_and_more
SELECT struct(*, 1 AS x) AS s FROM staff

-- query: struct_star_duplicates
SELECT struct(*) AS s FROM staff a JOIN staff b ON a.employee_id = b.manager_id

-- query: coalesce_star_literal
SELECT coalesce(*, 'x') AS c FROM (SELECT note, status FROM orders)

-- query: concat_ws_star
SELECT concat_ws('-', *) AS c FROM (SELECT note, quantity FROM orders)

-- query: to_json_star
SELECT to_json(struct(*)) AS j FROM orders

-- query: star_in_in_where
SELECT a FROM (SELECT 1 AS a, 2 AS b) WHERE 1 IN (*)

-- query: star_in_having
SELECT count(*) AS n FROM staff HAVING count(*) > 1

-- query: star_of_struct
SELECT address.* FROM customers

-- query: star_of_struct_ambiguous
SELECT a.* FROM (SELECT struct(1 AS x) AS a) a

-- query: star_without_from
SELECT *

-- query: star_except_all
SELECT * EXCEPT (a) FROM (SELECT 1 AS a)

-- query: star_except_nested_field
SELECT * EXCEPT (address.geo.lat) FROM customers

-- query: star_except_of_table
SELECT o.* EXCEPT (note), l.* EXCEPT (order_id, quantity) FROM orders o JOIN order_lines l ON true

-- query: star_in_explode
SELECT explode(array(*)) AS e FROM (SELECT 1 AS a, 2 AS b)

-- query: star_in_grouped_all_keys
SELECT * FROM (SELECT 1 AS a, 2 AS b) GROUP BY a, b

-- query: star_in_lambda
SELECT transform(array(1), x -> struct(*)) AS t FROM (SELECT 1 AS a)

-- query: star_quoted_alias
SELECT `my t`.* FROM staff AS `my t`

-- query: star_map_concat
SELECT map(*) AS m FROM (SELECT 'a' AS k, 1 AS v)

-- query: count_struct_star
SELECT count(address.*) AS n FROM customers

-- query: count_table_then_literal
SELECT count(s.*, 1) AS n FROM staff s

-- query: approx_star
SELECT approx_count_distinct(*) AS n FROM (SELECT 1 AS a)

-- query: group_all_star
SELECT hash(*) AS s, count(*) AS n FROM (SELECT name FROM staff) GROUP BY ALL

-- query: where_in_star_table
SELECT name FROM staff s WHERE 'x' IN (s.name, s.department)

-- query: agg_max_struct_star
SELECT max(struct(*)) AS m FROM staff

-- query: agg_max_by_star
SELECT max_by(*) AS m FROM (SELECT 1 AS a, 2 AS b)

-- query: except_same_attribute
SELECT * EXCEPT (order_id) FROM (SELECT order_id, order_id FROM orders)

-- query: except_fields_two
SELECT * EXCEPT (address.city, address.street) FROM customers

-- query: except_qualified_field
SELECT * EXCEPT (c.address.city) FROM customers c

-- query: except_as_setop
SELECT * FROM staff EXCEPT (SELECT * FROM staff)

-- query: except_nested_star
SELECT t.* FROM (SELECT * EXCEPT (salary) FROM staff) t

-- query: star_of_two_tables
SELECT s.*, k.* FROM staff s, calendar k

-- query: star_array_dup
SELECT array(*, 5) AS a FROM (SELECT 1 AS a, 2 AS b)

-- query: star_nvl
SELECT nvl(*) AS s FROM (SELECT note, status FROM orders)

-- query: star_substr
SELECT substr(*) AS s FROM (SELECT 'abc' AS a, 1 AS b)

-- query: star_trim
SELECT trim(*) AS s FROM (SELECT 'abc' AS a)

-- query: star_cast_function
SELECT int(*) AS s FROM (SELECT '1' AS a)

-- query: star_exists_having
SELECT department FROM staff GROUP BY department HAVING EXISTS (SELECT * FROM orders)
