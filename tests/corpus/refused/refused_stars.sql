-- query: count_star_of_table
SELECT count(o.*) AS n FROM orders o

-- query: count_star_unknown
SELECT count(x.*) AS n FROM orders o

-- query: count_if_star
SELECT count_if(*) AS n FROM staff

-- query: max_star_two
SELECT max(*) AS n FROM (SELECT 1 AS a, 2 AS b)

-- query: count_empty
SELECT count() AS n FROM orders

-- query: array_star_types
SELECT array(*) AS a FROM staff

-- query: greatest_star_one
SELECT greatest(*) AS c FROM (SELECT q1 FROM quarterly_sales)

-- query: upper_star_two
SELECT upper(*) AS u FROM (SELECT note, status FROM orders)

-- query: star_in_case
SELECT CASE WHEN * THEN 1 END AS x FROM (SELECT true AS a)

-- query: star_in_where_function
SELECT name FROM staff WHERE coalesce(*) IS NOT NULL

-- query: star_in_group_by_struct
SELECT count(*) AS n FROM staff GROUP BY struct(*)

-- query: star_in_order_by
SELECT name FROM staff ORDER BY *

-- query: star_in_order_by_struct
SELECT * FROM staff ORDER BY struct(*)

-- query: star_in_join_on
SELECT 1 AS x FROM staff a JOIN staff b ON struct(a.*) = struct(b.*)

-- query: star_of_missing
SELECT x.* FROM staff s

-- query: star_of_column_not_struct
SELECT name.* FROM staff

-- query: star_of_array_of_structs
SELECT items.* FROM events

-- query: star_of_expression
SELECT struct(1 AS a, 2 AS b).* FROM staff

-- query: star_of_element
SELECT items[0].* FROM events

-- query: star_except_repeated
SELECT * EXCEPT (note, note) FROM orders

-- query: star_except_empty
SELECT * EXCEPT () FROM orders

-- query: star_except_ambiguous
SELECT * EXCEPT (order_id) FROM orders o JOIN order_lines l ON true

-- query: star_except_field_and_parent
SELECT * EXCEPT (address, address.city) FROM customers

-- query: star_except_missing_field
SELECT * EXCEPT (address.planet) FROM customers

-- query: star_except_field_of_scalar
SELECT * EXCEPT (name.x) FROM customers

-- query: star_except_expression
SELECT * EXCEPT (upper(note)) FROM orders

-- query: star_except_literal
SELECT * EXCEPT ('note') FROM orders

-- query: star_replace
SELECT * REPLACE (1 AS note) FROM orders

-- query: star_exclude
SELECT * EXCLUDE (note) FROM orders

-- query: star_except_in_cte
WITH t AS (SELECT * EXCEPT (note, discount) FROM orders) SELECT discount FROM t

-- query: star_and_aggregate
SELECT *, count(*) AS n FROM staff

-- query: star_distinct_map
SELECT DISTINCT * FROM products

-- query: star_isnull
SELECT (*) IS NULL AS m FROM (SELECT note FROM orders)

-- query: count_quoted_star
SELECT count(`o`.*) AS n FROM orders o

-- query: count_filter_table_star
SELECT count(s.*) FILTER (WHERE true) AS n FROM staff s

-- query: count_star_having
SELECT department FROM staff GROUP BY department HAVING count(staff.*) > 1

-- query: group_concat_star
SELECT count(*) AS n FROM (SELECT name FROM staff) GROUP BY concat(*)

-- query: group_number_star
SELECT struct(*) AS s, count(*) AS n FROM (SELECT name FROM staff) GROUP BY 1

-- query: join_hash_star
SELECT 1 AS x FROM staff a JOIN staff b ON hash(a.*) = hash(b.*)

-- query: having_star
SELECT name FROM staff GROUP BY name HAVING hash(*) > 0

-- query: agg_first_star
SELECT first(*) AS m FROM (SELECT 1 AS a)

-- query: except_deep_missing
SELECT * EXCEPT (address.geo.alt) FROM customers

-- query: except_map_key
SELECT * EXCEPT (attributes.x) FROM products

-- query: except_array_field
SELECT * EXCEPT (items.qty) FROM events

-- query: except_quoted_dot
SELECT * EXCEPT (a.b) FROM legacy

-- query: star_minus
SELECT -* FROM (SELECT 1 AS a)

-- query: star_in_case_else
SELECT CASE WHEN true THEN 1 ELSE * END AS x FROM (SELECT 1 AS a)

-- query: star_lateral_view
SELECT * FROM (SELECT 1 AS a, 2 AS b) LATERAL VIEW explode(array(*)) v AS e

-- query: star_lateral_view_stack
SELECT e FROM (SELECT 1 AS a, 2 AS b) LATERAL VIEW stack(2, *) v AS e

-- query: star_regex
SELECT `(a)?+.+` FROM (SELECT 1 AS a, 2 AS b)
