-- query: staging_orders
SELECT
  order_id,
  customer_id,
  lower(trim(coalesce(status, 'unknown'))) AS status,
  CAST(amount AS DECIMAL(18, 4)) AS amount,
  amount * (1 - coalesce(discount, 0)) AS net_amount,
  CAST(ordered_at AS DATE) AS ordered_on,
  date_trunc('MONTH', ordered_at) AS ordered_month,
  coalesce(is_paid, FALSE) AS is_paid
FROM orders
WHERE order_date >= DATE '2020-01-01'

-- query: staging_customers
SELECT
  customer_id,
  initcap(name) AS name,
  nullif(trim(email), '') AS email,
  split_part(email, '@', 2) AS email_domain,
  address.city AS city,
  address.geo.lat AS latitude,
  loyalty.tier AS tier,
  coalesce(loyalty.points, 0) AS points,
  size(tags) AS tag_count,
  datediff(current_date(), birth_date) DIV 365 AS age
FROM customers

-- query: order_totals
WITH lines AS (
  SELECT
    order_id,
    sum(quantity) AS units,
    sum(quantity * unit_price) AS gross,
    sum(quantity * unit_price * (1 - coalesce(discount_pct, 0))) AS net,
    count(DISTINCT product_id) AS products
  FROM order_lines
  GROUP BY order_id
)
SELECT o.order_id, o.customer_id, l.units, l.gross, l.net, l.gross - l.net AS saved, coalesce(l.products, 0) AS products
FROM orders o
LEFT JOIN lines l ON l.order_id = o.order_id

-- query: customer_lifetime
WITH totals AS (
  SELECT customer_id, count(*) AS orders, sum(amount) AS revenue, min(order_date) AS first_order, max(order_date) AS last_order
  FROM orders
  GROUP BY customer_id
)
SELECT
  c.customer_id,
  c.name,
  coalesce(t.orders, 0) AS orders,
  coalesce(t.revenue, 0) AS revenue,
  t.first_order,
  datediff(t.last_order, t.first_order) AS active_days,
  CASE WHEN t.revenue > 10000 THEN 'gold' WHEN t.revenue > 1000 THEN 'silver' ELSE 'bronze' END AS band,
  ntile(10) OVER (ORDER BY t.revenue DESC) AS decile
FROM customers c
LEFT JOIN totals t USING (customer_id)

-- query: daily_revenue
SELECT
  k.day,
  k.is_holiday,
  coalesce(sum(o.amount), 0) AS revenue,
  count(o.order_id) AS orders,
  sum(sum(o.amount)) OVER (PARTITION BY k.month ORDER BY k.day) AS month_to_date,
  lag(sum(o.amount), 7) OVER (ORDER BY k.day) AS week_before
FROM calendar k
LEFT JOIN orders o ON o.order_date = k.day
GROUP BY k.day, k.is_holiday, k.month

-- query: funnel
SELECT
  customer_id,
  count_if(event_type = 'view') AS views,
  count_if(event_type = 'cart') AS carts,
  count_if(event_type = 'buy') AS buys,
  try_divide(count_if(event_type = 'buy'), count_if(event_type = 'view')) AS conversion,
  min(at) FILTER (WHERE event_type = 'buy') AS first_buy
FROM events
GROUP BY customer_id

-- query: sessions
WITH gaps AS (
  SELECT *, at - lag(at) OVER (PARTITION BY customer_id ORDER BY at) AS gap FROM events
), marked AS (
  SELECT *, sum(CASE WHEN gap IS NULL OR gap > INTERVAL '30' MINUTE THEN 1 ELSE 0 END) OVER (PARTITION BY customer_id ORDER BY at) AS session_no FROM gaps
)
SELECT customer_id, session_no, min(at) AS started, max(at) AS ended, max(at) - min(at) AS lasted, count(*) AS events, collect_set(event_type) AS kinds
FROM marked
GROUP BY customer_id, session_no

-- query: basket_items
SELECT e.event_id, e.customer_id, i.product_id, i.qty, i.price, i.qty * i.price AS value, p.title, p.price - i.price AS below_list
FROM events e
CROSS JOIN LATERAL inline(e.items) AS i
LEFT JOIN products p ON p.product_id = i.product_id

-- query: latest_per_key
SELECT * EXCEPT (rn)
FROM (
  SELECT *, row_number() OVER (PARTITION BY customer_id ORDER BY ordered_at DESC, order_id DESC) AS rn
  FROM orders
)
WHERE rn = 1

-- query: slowly_changing
SELECT
  customer_id,
  status,
  ordered_at AS valid_from,
  coalesce(lead(ordered_at) OVER (PARTITION BY customer_id ORDER BY ordered_at), TIMESTAMP '9999-12-31 00:00:00') AS valid_to,
  lead(ordered_at) OVER (PARTITION BY customer_id ORDER BY ordered_at) IS NULL AS is_current
FROM orders

-- query: org_chart
WITH RECURSIVE tree AS (
  SELECT employee_id, name, manager_id, 1 AS level, CAST(name AS STRING) AS path FROM staff WHERE manager_id IS NULL
  UNION ALL
  SELECT s.employee_id, s.name, s.manager_id, t.level + 1, concat(t.path, ' > ', s.name) FROM staff s JOIN tree t ON s.manager_id = t.employee_id
)
SELECT level, count(*) AS people, max(path) AS longest FROM tree GROUP BY level

-- query: salary_bands
SELECT
  department,
  percentile_cont(0.5) WITHIN GROUP (ORDER BY salary) AS median,
  avg(salary) AS mean,
  max(salary) - min(salary) AS spread,
  stddev_samp(salary) AS deviation,
  max_by(name, salary) AS best_paid,
  collect_list(struct(name, salary)) AS people
FROM staff
GROUP BY department
HAVING count(*) > 1

-- query: quarterly_report
SELECT region, quarter, sum(sales) AS sales, grouping_id(region, quarter) AS level
FROM quarterly_sales UNPIVOT (sales FOR quarter IN (q1, q2, q3, q4))
GROUP BY CUBE (region, quarter)

-- query: product_margins
SELECT
  category,
  count(*) AS products,
  sum(price * coalesce(stock, 0)) AS stock_value,
  avg((price - cost) / nullif(price, 0)) AS margin,
  sum(CASE WHEN discontinued THEN 1 ELSE 0 END) AS gone,
  min(price) FILTER (WHERE NOT discontinued) AS cheapest
FROM products
GROUP BY category
ORDER BY margin DESC NULLS LAST

-- query: anti_join_orphans
SELECT l.order_id, l.line_no FROM order_lines l LEFT ANTI JOIN orders o ON o.order_id = l.order_id
UNION ALL
SELECT order_id, NULL FROM orders o WHERE NOT EXISTS (SELECT 1 FROM order_lines l WHERE l.order_id = o.order_id)

-- query: json_events
SELECT
  event_id,
  from_json(payload, 'user STRUCT<id: BIGINT, name: STRING>, items ARRAY<STRUCT<sku: STRING, n: INT>>').user.id AS user_id,
  aggregate(from_json(payload, 'items ARRAY<STRUCT<sku: STRING, n: INT>>').items, 0, (acc, x) -> acc + coalesce(x.n, 0)) AS n,
  get_json_object(payload, '$.source') AS source,
  variant_get(body, '$.score', 'double') AS score
FROM events

-- query: attributes_long
SELECT p.product_id, a.key, a.value, upper(a.key) AS attribute, a.value IS NULL AS missing
FROM products p LATERAL VIEW OUTER explode(p.attributes) a AS key, value

-- query: cohort
WITH firsts AS (
  SELECT customer_id, min(date_trunc('MONTH', order_date)) AS cohort FROM orders GROUP BY customer_id
)
SELECT f.cohort, CAST(months_between(date_trunc('MONTH', o.order_date), f.cohort) AS INT) AS month_no, count(DISTINCT o.customer_id) AS customers, sum(o.amount) AS revenue
FROM orders o JOIN firsts f USING (customer_id)
GROUP BY ALL

-- query: market_share
SELECT
  p.category,
  o.region_code,
  sum(l.quantity * l.unit_price) AS revenue,
  round(100 * sum(l.quantity * l.unit_price) / sum(sum(l.quantity * l.unit_price)) OVER (PARTITION BY o.region_code), 2) AS share,
  rank() OVER (PARTITION BY o.region_code ORDER BY sum(l.quantity * l.unit_price) DESC) AS place
FROM orders o
JOIN order_lines l ON l.order_id = o.order_id
JOIN products p ON p.product_id = l.product_id
GROUP BY p.category, o.region_code

-- query: delivery_times
SELECT
  order_id,
  shipped_at - ordered_at AS handling,
  extract(DAY FROM shipped_at - ordered_at) AS days,
  timestampdiff(HOUR, ordered_at, shipped_at) AS hours,
  CASE WHEN shipped_at IS NULL THEN 'open' WHEN CAST(shipped_at AS DATE) > due_date THEN 'late' ELSE 'on time' END AS verdict,
  date_add(order_date, CAST(extract(DAY FROM p.lead_time) AS INT)) AS promised
FROM orders o CROSS JOIN (SELECT max(lead_time) AS lead_time FROM products) p

-- query: deduplicated_union
SELECT 'order' AS kind, CAST(order_id AS STRING) AS id, ordered_at AS at FROM orders
UNION
SELECT 'event', event_id, coalesce(received, CAST(at AS TIMESTAMP)) FROM events
UNION
SELECT 'hire', CAST(employee_id AS STRING), CAST(hired AS TIMESTAMP) FROM staff

-- query: running_inventory
SELECT p.product_id, k.day, p.stock - sum(coalesce(l.quantity, 0)) OVER (PARTITION BY p.product_id ORDER BY k.day ROWS UNBOUNDED PRECEDING) AS left_over
FROM products p CROSS JOIN calendar k
LEFT JOIN orders o ON o.order_date = k.day
LEFT JOIN order_lines l ON l.order_id = o.order_id AND l.product_id = p.product_id

-- query: wide_pivot
SELECT *, coalesce(jan, 0) + coalesce(feb, 0) AS both
FROM (SELECT customer_id, month(order_date) AS m, amount FROM orders)
PIVOT (sum(amount) FOR m IN (1 AS jan, 2 AS feb))

-- query: nested_aggregation
SELECT customer_id, map_from_entries(collect_list(struct(status, total))) AS by_status, sum(total) AS total
FROM (SELECT customer_id, coalesce(status, 'none') AS status, sum(amount) AS total FROM orders GROUP BY customer_id, coalesce(status, 'none'))
GROUP BY customer_id

-- query: checks
SELECT 'null status' AS what, count(*) AS n FROM orders WHERE status IS NULL
UNION ALL
SELECT 'negative amount', count_if(amount < 0) FROM orders
UNION ALL
SELECT 'orphans', (SELECT count(*) FROM order_lines l LEFT ANTI JOIN orders o ON o.order_id = l.order_id)
