-- query: where
FROM orders |> WHERE amount > 10

-- query: select
FROM orders |> SELECT order_id, amount * 2 AS twice

-- query: extend
FROM calendar |> EXTEND week + 1 AS next_week, label IS NULL AS unlabelled

-- query: set
FROM calendar |> SET week = week * 2.5, label = coalesce(label, 'none')

-- query: drop
FROM calendar |> DROP label, quarter

-- query: as
FROM calendar |> AS c |> WHERE c.week > 1 |> SELECT c.day

-- query: aggregate
FROM orders |> AGGREGATE sum(amount) AS total, count(*) AS n

-- query: aggregate_group
FROM orders |> AGGREGATE sum(amount) AS total GROUP BY status, is_gift

-- query: aggregate_group_expression
FROM orders |> AGGREGATE max(amount) AS m GROUP BY year(order_date) AS y

-- query: join
FROM orders |> AS o |> JOIN customers c ON o.customer_id = c.customer_id |> SELECT o.order_id, c.name

-- query: left_join
FROM orders o |> LEFT JOIN customers c ON o.customer_id = c.customer_id |> SELECT o.order_id, c.name, c.customer_id AS cid

-- query: join_using
FROM orders |> LEFT JOIN order_lines USING (order_id) |> SELECT order_id, line_no

-- query: union
FROM orders |> SELECT order_id |> UNION ALL SELECT product_id FROM products

-- query: intersect
FROM orders |> SELECT customer_id |> INTERSECT SELECT referrer_id FROM customers

-- query: except
FROM customers |> SELECT customer_id |> EXCEPT SELECT customer_id FROM orders

-- query: order_limit
FROM orders |> ORDER BY amount DESC |> LIMIT 10 OFFSET 5 |> SELECT order_id

-- query: window
FROM orders |> EXTEND row_number() OVER (PARTITION BY customer_id ORDER BY amount) AS rn |> WHERE rn = 1 |> DROP rn, note

-- query: pivot
FROM orders |> SELECT customer_id, status, amount |> PIVOT (sum(amount) FOR status IN ('new', 'paid'))

-- query: unpivot
FROM quarterly_sales |> UNPIVOT (v FOR q IN (q1, q2))

-- query: tablesample
FROM orders |> TABLESAMPLE (10 PERCENT) |> SELECT order_id

-- query: chain
FROM orders |> WHERE is_paid |> EXTEND amount * (1 - coalesce(discount, 0)) AS net |> AGGREGATE sum(net) AS total, avg(net) AS mean GROUP BY customer_id |> WHERE total > 100 |> ORDER BY total DESC |> LIMIT 10

-- query: after_select_query
SELECT order_id, amount FROM orders WHERE amount > 1 |> WHERE order_id > 5 |> EXTEND amount + 1 AS more

-- query: after_table
TABLE calendar |> SELECT day, week

-- query: after_values
VALUES (1, 'a'), (2, 'b') |> SELECT col1 + 1 AS x, col2

-- query: in_subquery
SELECT * FROM (FROM orders |> AGGREGATE count(*) AS n GROUP BY status) WHERE n > 1

-- query: with_cte
WITH paid AS (FROM orders |> WHERE is_paid) FROM paid |> SELECT order_id, is_paid

-- query: select_star_except
FROM orders |> SELECT * EXCEPT (note, weight)

-- query: select_distinct
FROM orders |> SELECT DISTINCT status

-- query: aggregate_then_join
FROM orders |> AGGREGATE sum(amount) AS total GROUP BY customer_id |> AS t |> RIGHT JOIN customers c ON t.customer_id = c.customer_id |> SELECT c.name, t.total, t.customer_id

-- query: set_twice
FROM calendar |> SET week = week + 1 |> SET week = CAST(week AS STRING)

-- query: extend_lateral_alias
FROM calendar |> EXTEND week + 1 AS a |> EXTEND a * 2 AS b |> SELECT a, b
