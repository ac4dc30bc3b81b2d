-- query: n_events_session_key
WITH gaps AS (SELECT customer_id, event_id, at, lag(at) OVER (PARTITION BY customer_id ORDER BY at) AS prev FROM events), flagged AS (SELECT *, CASE WHEN prev IS NULL OR at - prev > INTERVAL 30 MINUTES THEN 1 ELSE 0 END AS is_new FROM gaps), numbered AS (SELECT *, sum(is_new) OVER (PARTITION BY customer_id ORDER BY at ROWS UNBOUNDED PRECEDING) AS session_no FROM flagged) SELECT customer_id, session_no, min(at) AS started, max(at) AS ended, max(at) - min(at) AS length, count(*) AS n_events, concat_ws('-', customer_id, session_no) AS session_key FROM numbered GROUP BY customer_id, session_no

-- query: mean_gap_max_minutes
WITH s AS (SELECT event_id, customer_id, received, unix_timestamp(received) - lag(unix_timestamp(received)) OVER (PARTITION BY customer_id ORDER BY received) AS gap FROM events WHERE customer_id IS NOT NULL) SELECT customer_id, count_if(coalesce(gap, 99999) > 1800) AS sessions, avg(gap) AS mean_gap, max(gap) / 60.0 AS max_minutes FROM s GROUP BY ALL

-- query: note_weight
WITH ranked AS (SELECT *, row_number() OVER (PARTITION BY order_id ORDER BY ordered_at DESC, shipped_at DESC NULLS LAST) AS rn FROM orders) SELECT * EXCEPT (rn) FROM ranked WHERE rn = 1

-- query: order_id_amount
SELECT customer_id, latest.order_id, latest.amount FROM (SELECT customer_id, max_by(struct(order_id, amount, status), ordered_at) AS latest FROM orders GROUP BY customer_id)

-- query: size_pct
WITH first_orders AS (SELECT customer_id, date_trunc('MONTH', min(order_date)) AS cohort FROM orders GROUP BY customer_id), activity AS (SELECT o.customer_id, f.cohort, CAST(months_between(date_trunc('MONTH', o.order_date), f.cohort) AS INT) AS month_no FROM orders o JOIN first_orders f USING (customer_id)), sizes AS (SELECT cohort, count(*) AS size FROM first_orders GROUP BY cohort) SELECT a.cohort, a.month_no, count(DISTINCT a.customer_id) AS active, s.size, round(100.0 * count(DISTINCT a.customer_id) / s.size, 2) AS pct FROM activity a JOIN sizes s ON a.cohort = s.cohort GROUP BY a.cohort, a.month_no, s.size ORDER BY 1, 2

-- query: rate_mean_time
WITH steps AS (SELECT customer_id, min(CASE WHEN event_type = 'view' THEN at END) AS viewed, min(CASE WHEN event_type = 'cart' THEN at END) AS carted, min(at) FILTER (WHERE event_type = 'buy') AS bought FROM events GROUP BY customer_id) SELECT count(viewed) AS views, count_if(carted > viewed) AS carts, count_if(bought > carted) AS buys, try_divide(count_if(bought > carted), count(viewed)) AS rate, avg(bought - viewed) AS mean_time FROM steps

-- query: valid_from_valid_to
WITH dim AS (SELECT customer_id, country, signup_date AS valid_from, coalesce(lead(signup_date) OVER (PARTITION BY customer_id ORDER BY signup_date), DATE '9999-12-31') AS valid_to FROM customers) SELECT o.order_id, o.amount, d.country, d.valid_from, d.valid_to FROM orders o LEFT JOIN dim d ON o.customer_id = d.customer_id AND o.order_date >= d.valid_from AND o.order_date < d.valid_to

-- query: row_hash_changed
WITH hashed AS (SELECT customer_id, sha2(concat_ws('||', coalesce(name, ''), coalesce(email, ''), coalesce(CAST(credit_limit AS STRING), '')), 256) AS row_hash, * EXCEPT (customer_id) FROM customers) SELECT customer_id, row_hash, lag(row_hash) OVER (PARTITION BY customer_id ORDER BY signup_date) IS DISTINCT FROM row_hash AS changed FROM hashed

-- query: net_net2
SELECT md5(concat(CAST(order_id AS STRING), '-', CAST(line_no AS STRING))) AS sk, order_id, line_no, unit_price * quantity AS gross, unit_price * quantity * (1 - coalesce(discount_pct, 0)) AS net, CAST(unit_price * quantity * (1 - coalesce(discount_pct, 0)) AS DECIMAL(18, 2)) AS net2 FROM order_lines

-- query: conv_exact
WITH rates AS (SELECT * FROM VALUES ('USD', DATE'2024-01-01', 1.10), ('GBP', DATE'2024-01-01', 0.8567) AS r(currency, day, rate)) SELECT o.order_id, o.amount, coalesce(r.rate, 1) AS rate, o.amount / coalesce(r.rate, 1) AS eur, round(o.amount * r.rate, 2) AS conv, CAST(o.amount * r.rate AS DECIMAL(18,4)) AS exact FROM orders o LEFT JOIN rates r ON r.currency = o.status AND r.day = o.order_date

-- query: orders_rolling
WITH days AS (SELECT explode(sequence(DATE'2024-01-01', DATE'2024-12-31', INTERVAL 1 DAY)) AS day) SELECT d.day, coalesce(sum(o.amount), 0) AS revenue, count(o.order_id) AS orders, sum(coalesce(sum(o.amount), 0)) OVER (ORDER BY d.day ROWS BETWEEN 6 PRECEDING AND CURRENT ROW) AS rolling FROM days d LEFT JOIN orders o ON o.order_date = d.day GROUP BY d.day

-- query: last_day_label
WITH bounds AS (SELECT min(order_date) AS lo, max(order_date) AS hi FROM orders), spine AS (SELECT explode(sequence(date_trunc('MONTH', lo), date_trunc('MONTH', hi), INTERVAL 1 MONTH)) AS month FROM bounds) SELECT month, CAST(month AS DATE) AS first_day, last_day(CAST(month AS DATE)) AS last_day, date_format(month, 'yyyy-MM') AS label FROM spine

-- query: to_day_days
WITH marked AS (SELECT day, is_holiday, row_number() OVER (ORDER BY day) - row_number() OVER (PARTITION BY is_holiday ORDER BY day) AS grp FROM calendar) SELECT is_holiday, min(day) AS from_day, max(day) AS to_day, datediff(max(day), min(day)) + 1 AS days FROM marked GROUP BY is_holiday, grp

-- query: customer_id_len
WITH d AS (SELECT DISTINCT customer_id, order_date FROM orders), g AS (SELECT customer_id, order_date, date_sub(order_date, CAST(row_number() OVER (PARTITION BY customer_id ORDER BY order_date) AS INT)) AS island FROM d) SELECT customer_id, min(order_date) AS s, max(order_date) AS e, count(*) AS len FROM g GROUP BY customer_id, island HAVING count(*) >= 3

-- query: p90_decile
SELECT customer_id, percentile_cont(0.5) WITHIN GROUP (ORDER BY amount) AS med, percentile_approx(amount, array(0.25, 0.5, 0.75)) AS q, percentile(quantity, 0.9) AS p90, stddev_samp(amount) / nullif(avg(amount), 0) AS cv, ntile(10) OVER (ORDER BY sum(amount) DESC) AS decile FROM orders GROUP BY customer_id

-- query: ytd_wow
SELECT order_date, amount, avg(amount) OVER (ORDER BY order_date RANGE BETWEEN INTERVAL 6 DAYS PRECEDING AND CURRENT ROW) AS ma7, sum(amount) OVER (PARTITION BY date_trunc('MONTH', order_date) ORDER BY order_date) AS mtd, sum(amount) OVER (PARTITION BY year(order_date) ORDER BY order_date) AS ytd, amount / lag(amount, 7) OVER (ORDER BY order_date) - 1 AS wow FROM (SELECT order_date, sum(amount) AS amount FROM orders GROUP BY order_date)

-- query: event_id_user_id
SELECT e.event_id, from_json(e.payload, 'user STRUCT<id: BIGINT, name: STRING>, items ARRAY<STRUCT<sku: STRING, qty: INT>>') AS p, p.user.id AS user_id, size(p.items) AS n FROM events e

-- query: tag_pos
WITH parsed AS (SELECT event_id, from_json(payload, 'id BIGINT, tags ARRAY<STRING>, props MAP<STRING, DOUBLE>') AS j FROM events) SELECT event_id, j.id, tag, pos, j.props['x'] AS x, element_at(j.props, 'y') AS y FROM parsed LATERAL VIEW OUTER posexplode(j.tags) t AS pos, tag

-- query: price_flag
SELECT event_id, body:user.id::bigint AS user_id, body:user.name::string AS name, coalesce(body:price::decimal(10,2), 0) AS price, body:flags[0]::boolean AS flag, try_variant_get(body, '$.ts', 'timestamp') AS ts FROM events

-- query: key_val
SELECT e.event_id, v.pos, v.key, v.value::string AS val FROM events e, LATERAL variant_explode(e.body:items) v

-- query: date_format_sum_count
SELECT * FROM (SELECT customer_id, date_format(order_date, 'MMM') AS mon, amount FROM orders) PIVOT (sum(amount) AS total, count(*) AS n FOR mon IN ('Jan' AS jan, 'Feb' AS feb, 'Mar' AS mar))

-- query: paid_orders_multi
SELECT customer_id, sum(CASE WHEN status = 'new' THEN amount ELSE 0 END) AS new_amt, sum(CASE WHEN status = 'paid' THEN amount END) AS paid_amt, max(IF(is_gift, 1, 0)) AS any_gift, count(DISTINCT CASE WHEN is_paid THEN order_id END) AS paid_orders, sum(amount) FILTER (WHERE quantity > 1) AS multi FROM orders GROUP BY 1

-- query: avg_salary_deepest
WITH RECURSIVE chain AS (SELECT employee_id, manager_id, name, salary, 1 AS lvl, array(employee_id) AS path FROM staff WHERE manager_id IS NULL UNION ALL SELECT s.employee_id, s.manager_id, s.name, s.salary, c.lvl + 1, array_append(c.path, s.employee_id) FROM chain c JOIN staff s ON s.manager_id = c.employee_id) SELECT lvl, count(*) AS n, avg(salary) AS avg_salary, max(size(path)) AS deepest FROM chain GROUP BY lvl

-- query: action_amount
WITH source AS (SELECT order_id, amount, ordered_at FROM orders), target AS (SELECT order_id, amount, shipped_at AS ordered_at FROM orders WHERE is_gift), merged AS (SELECT coalesce(s.order_id, t.order_id) AS order_id, CASE WHEN t.order_id IS NULL THEN 'insert' WHEN s.order_id IS NULL THEN 'delete' WHEN s.amount <> t.amount THEN 'update' ELSE 'keep' END AS action, coalesce(s.amount, t.amount) AS amount, greatest(s.ordered_at, t.ordered_at) AS ts FROM source s FULL OUTER JOIN target t ON s.order_id = t.order_id) SELECT * FROM merged WHERE action <> 'keep'

-- query: kind_amount
SELECT 'order' AS kind, CAST(order_id AS STRING) AS id, ordered_at AS ts, amount FROM orders UNION ALL SELECT 'event', event_id, received, NULL FROM events UNION ALL SELECT 'product', sku, NULL, price FROM products

-- query: frequency_monetary
SELECT customer_id, datediff(current_date(), max(order_date)) AS recency, count(*) AS frequency, sum(amount) AS monetary, ntile(5) OVER (ORDER BY max(order_date)) AS r, ntile(5) OVER (ORDER BY count(*)) AS f, ntile(5) OVER (ORDER BY sum(amount)) AS m, concat(r, f, m) AS x FROM orders GROUP BY customer_id

-- query: customer_id_segment
WITH t AS (SELECT customer_id, ntile(5) OVER (ORDER BY max(order_date)) AS r, ntile(5) OVER (ORDER BY count(*)) AS f FROM orders GROUP BY customer_id) SELECT *, r * 10 + f AS rf, CASE WHEN r >= 4 AND f >= 4 THEN 'champion' WHEN r <= 2 THEN 'lost' ELSE 'other' END AS segment FROM t

-- query: revenue_share
SELECT p.category, p.title, sum(l.quantity * l.unit_price) AS revenue, rank() OVER (PARTITION BY p.category ORDER BY sum(l.quantity * l.unit_price) DESC) AS rk, sum(l.quantity * l.unit_price) / sum(sum(l.quantity * l.unit_price)) OVER (PARTITION BY p.category) AS share FROM order_lines l JOIN products p ON l.product_id = p.product_id GROUP BY p.category, p.title

-- query: together
SELECT a.product_id AS p1, b.product_id AS p2, count(DISTINCT a.order_id) AS together FROM order_lines a JOIN order_lines b ON a.order_id = b.order_id AND a.product_id < b.product_id GROUP BY 1, 2 HAVING count(DISTINCT a.order_id) > 5 ORDER BY together DESC LIMIT 20

-- query: band_with_vat
WITH margins AS (SELECT product_id, price, cost, price - cost AS margin, (price - cost) / price AS pct FROM products) SELECT *, CASE WHEN pct > 0.5 THEN 'high' WHEN pct > 0.2 THEN 'mid' WHEN pct IS NULL THEN 'unknown' ELSE 'low' END AS band, round(margin * 1.19, 2) AS with_vat FROM margins

-- query: is_vip_domain
SELECT c.customer_id, c.name, c.address.city AS city, c.address.geo.lat AS lat, coalesce(c.loyalty.tier, 'none') AS tier, coalesce(c.loyalty.points, 0) AS points, size(coalesce(c.tags, array())) AS n_tags, array_contains(c.tags, 'vip') AS is_vip, split(c.email, '@')[1] AS domain, regexp_extract(c.email, '@(.+)$', 1) AS d2 FROM customers c

-- query: age_age2
SELECT lower(trim(email)) AS email, initcap(name) AS name, nullif(trim(country), '') AS country, coalesce(nullif(upper(country), ''), 'XX') AS cc, CASE WHEN birth_date > current_date() THEN NULL ELSE floor(months_between(current_date(), birth_date) / 12) END AS age, int(datediff(current_date(), birth_date) / 365.25) AS age2 FROM customers

-- query: eom_first_of_year
SELECT day, week, month, quarter, coalesce(label, date_format(day, 'EEEE')) AS label, year(day) AS y, date_trunc('WEEK', day) AS wk, dayofweek(day) IN (1, 7) AS weekend, is_holiday OR dayofweek(day) IN (1, 7) AS off, lead(day) OVER (ORDER BY day) AS next_day, last_day(day) = day AS eom, make_date(year(day), 1, 1) AS first_of_year, concat('Q', quarter, '-', year(day)) AS q FROM calendar

-- query: gid_country_label
SELECT o.order_date, c.country, count(*) AS n, sum(o.amount) AS rev, grouping_id(o.order_date, c.country) AS gid, CASE WHEN grouping(c.country) = 1 THEN 'all' ELSE c.country END AS country_label FROM orders o JOIN customers c ON o.customer_id = c.customer_id GROUP BY o.order_date, c.country WITH ROLLUP

-- query: country_status
SELECT coalesce(c.country, 'TOTAL') AS country, coalesce(o.status, 'ALL') AS status, sum(o.amount) AS s FROM orders o JOIN customers c USING (customer_id) GROUP BY GROUPING SETS ((c.country, o.status), (c.country), ())

-- query: diff_balanced
SELECT o.order_id, o.amount, t.lines, t.total, o.amount - t.total AS diff, abs(o.amount - t.total) < 0.01 AS balanced FROM orders o LEFT JOIN (SELECT order_id, count(*) AS lines, sum(quantity * unit_price) AS total FROM order_lines GROUP BY order_id) t USING (order_id)

-- query: prices_total_q
SELECT order_id, collect_list(struct(line_no, product_id, quantity * unit_price AS amt)) AS lines, array_sort(collect_list(line_no)) AS nos, map_from_entries(collect_list(struct(line_no, unit_price))) AS prices, aggregate(collect_list(quantity), 0, (a, x) -> a + x) AS total_q, to_json(collect_list(named_struct('p', product_id, 'q', quantity))) AS js FROM order_lines GROUP BY order_id

-- query: has_first_total
WITH x AS (SELECT order_id, collect_list(named_struct('n', line_no, 'p', unit_price)) AS ls FROM order_lines GROUP BY order_id) SELECT order_id, transform(ls, l -> l.p * 2) AS dbl, filter(ls, l -> l.p > 10) AS big, exists(ls, l -> l.n = 1) AS has_first, aggregate(ls, CAST(0 AS DECIMAL(20,2)), (a, l) -> CAST(a + l.p AS DECIMAL(20,2))) AS total, ls[0].p AS p0, ls.p AS ps, array_max(ls.p) AS mx FROM x

-- query: option_values_first_value
SELECT l.order_id, k AS option_name, v AS option_values, v[0] AS first_value, size(v) AS n FROM order_lines l LATERAL VIEW explode(l.options) o AS k, v

-- query: product_id
SELECT product_id, k, v FROM products LATERAL VIEW OUTER explode(map_filter(attributes, (k, v) -> v IS NOT NULL)) a AS k, v

-- query: qty_value
SELECT e.customer_id, i.product_id, sum(i.qty) AS qty, sum(i.qty * i.price) AS value, approx_count_distinct(e.event_id) AS n FROM events e LATERAL VIEW inline(items) i AS product_id, qty, price GROUP BY e.customer_id, i.product_id

-- query: path_multi
SELECT customer_id, map_from_arrays(collect_list(event_type), collect_list(at)) AS times, str_to_map(concat_ws(',', collect_list(concat(event_type, ':', event_id)))) AS ids, collect_set(event_type) AS kinds, array_join(array_sort(collect_set(event_type)), '>') AS path, size(collect_set(event_type)) > 2 AS multi FROM events GROUP BY customer_id

-- query: med_secs_avg_n
WITH e AS (SELECT customer_id, event_type, at, lead(event_type) OVER w AS next_type, lead(at) OVER w AS next_at, row_number() OVER w AS n FROM events WINDOW w AS (PARTITION BY customer_id ORDER BY at)) SELECT event_type, next_type, count(*) AS transitions, percentile_approx(timestampdiff(SECOND, at, next_at), 0.5) AS med_secs, avg(n) AS avg_n FROM e GROUP BY event_type, next_type

-- query: event_type_users
SELECT window.start AS hour_start, window.end AS hour_end, event_type, count(*) AS n, count(DISTINCT customer_id) AS users FROM events GROUP BY window(received, '1 hour'), event_type

-- query: filled_disc
SELECT customer_id, status, last_value(note, true) OVER (PARTITION BY customer_id ORDER BY ordered_at ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS filled, coalesce(discount, last(discount, true) OVER (PARTITION BY customer_id ORDER BY ordered_at)) AS disc, coalesce(discount, 0) AS d0 FROM orders

-- query: tenure_manager
SELECT s.department, s.name, s.salary, s.salary - avg(s.salary) OVER (PARTITION BY s.department) AS vs_avg, percent_rank() OVER (PARTITION BY s.department ORDER BY s.salary) AS pr, s.salary / max(s.salary) OVER (PARTITION BY s.department) AS ratio, months_between(current_date(), s.hired) / 12 AS tenure, m.name AS manager FROM staff s LEFT JOIN staff m ON m.employee_id = s.manager_id

-- query: someone_one
SELECT department, listagg(name, ', ') WITHIN GROUP (ORDER BY hired) AS people, max_by(name, salary) AS top_earner, min(hired) AS first_hire, sum(salary) AS payroll, avg(salary) AS mean, median(salary) AS med, mode(manager_id) AS common_boss, count(DISTINCT manager_id) AS bosses, any_value(name) AS someone, collect_list(name)[0] AS one FROM staff GROUP BY department

-- query: quarter_amount
SELECT region, stack(4, 'q1', q1, 'q2', q2, 'q3', CAST(q3 AS DECIMAL(12,2)), 'q4', CAST(q4 AS DECIMAL(12,2))) AS (quarter, amount) FROM quarterly_sales

-- query: running_delta
SELECT region, product, quarter, amount, sum(amount) OVER (PARTITION BY region ORDER BY quarter) AS running, amount - lag(amount) OVER (PARTITION BY region, product ORDER BY quarter) AS delta FROM quarterly_sales UNPIVOT (amount FOR quarter IN (q1, q2, q3, q4))

-- query: arr2_s13
SELECT region, coalesce(q1, 0) + q2 + coalesce(q3, 0) + q4 AS total, greatest(q1, q2, q3, q4) AS best, (q2 - q1) / q1 AS growth, q4 / 4 AS m, q3 / q4 AS r, array(q1, q2) AS arr, array(q3, q4) AS arr2, q1 + q3 AS s13 FROM quarterly_sales

-- query: groesse_joined
SELECT `Id` AS id, trim(`Full Name`) AS full_name, split(`Full Name`, ' ')[0] AS first_name, `a.b` * 2 AS ab2, nested.`Odd Name` AS odd, nested.`x.y` AS xy, round(`Größe`, 1) AS groesse, `UPPER` || `select` AS joined FROM legacy

-- query: since_signup_days
WITH base AS (SELECT o.*, c.country, c.signup_date FROM orders o JOIN customers c ON c.customer_id = o.customer_id), agg AS (SELECT country, count(*) AS n, sum(amount) AS rev FROM base GROUP BY country) SELECT b.order_id, b.country, b.amount / a.rev AS share, a.n, b.order_date - b.signup_date AS since_signup, datediff(b.order_date, b.signup_date) AS days FROM base b LEFT JOIN agg a ON b.country <=> a.country

-- query: rev_outlier
WITH daily AS (SELECT order_date, sum(amount) AS rev FROM orders GROUP BY order_date), stats AS (SELECT avg(rev) AS mu, stddev(rev) AS sigma FROM daily) SELECT d.order_date, d.rev, (d.rev - s.mu) / s.sigma AS z, abs((d.rev - s.mu) / nullif(s.sigma, 0)) > 3 AS outlier FROM daily d CROSS JOIN stats s

-- query: maxq_nlines
SELECT order_id, (SELECT name FROM customers c WHERE c.customer_id = o.customer_id LIMIT 1) AS cname, EXISTS (SELECT 1 FROM order_lines l WHERE l.order_id = o.order_id AND l.discount_pct > 0) AS discounted, (SELECT max(quantity) FROM order_lines l WHERE l.order_id = o.order_id) AS maxq, (SELECT count(*) FROM order_lines l WHERE l.order_id = o.order_id) AS nlines FROM orders o

-- query: customer_id
SELECT customer_id FROM orders WHERE order_date >= DATE'2024-01-01' INTERSECT SELECT customer_id FROM orders WHERE order_date >= DATE'2023-01-01' EXCEPT SELECT customer_id FROM customers WHERE country = 'DE'

-- query: growth_yoy
SELECT date_trunc('MONTH', ordered_at) AS m, sum(amount) AS rev, lag(sum(amount)) OVER (ORDER BY date_trunc('MONTH', ordered_at)) AS prev, sum(amount) / lag(sum(amount)) OVER (ORDER BY date_trunc('MONTH', ordered_at)) - 1 AS growth, sum(amount) - lag(sum(amount), 12, 0) OVER (ORDER BY date_trunc('MONTH', ordered_at)) AS yoy FROM orders GROUP BY 1

-- query: state_nested
SELECT customer_id, order_id, order_date, lag(order_date) OVER w AS prev_date, CASE WHEN lag(order_date) OVER w IS NULL THEN 'new' WHEN datediff(order_date, lag(order_date) OVER w) > 90 THEN 'returning' ELSE 'active' END AS state, avg(datediff(order_date, lag(order_date) OVER w)) OVER (PARTITION BY status) AS nested FROM orders WINDOW w AS (PARTITION BY customer_id ORDER BY order_date)

-- query: expected_d30
WITH c AS (SELECT customer_id, order_id, order_date, lag(order_date) OVER (PARTITION BY customer_id ORDER BY order_date) AS prev_date FROM orders) SELECT customer_id, avg(datediff(order_date, prev_date)) AS mean_gap, max(order_date) + CAST(avg(datediff(order_date, prev_date)) AS INT) AS expected, date_add(max(order_date), 30) AS d30 FROM c GROUP BY customer_id

-- query: unit_second
SELECT try_cast(note AS INT) AS n, try_to_number(note, '999') AS tn, try_to_timestamp(note, 'yyyy-MM-dd') AS ts, try_divide(amount, quantity) AS unit, try_element_at(split(note, ','), 2) AS second, try_add(quantity, 1) AS q1, try_parse_json(note) AS j, ifnull(try_cast(note AS DATE), order_date) AS d FROM orders

-- query: low_cum
SELECT CASE WHEN amount < 10 THEN '0-10' WHEN amount < 100 THEN '10-100' ELSE '100+' END AS bucket, width_bucket(amount, 0, 1000, 10) AS wb, floor(amount / 50) * 50 AS low, count(*) AS n, sum(amount) AS s, sum(count(*)) OVER (ORDER BY min(amount)) AS cum FROM orders GROUP BY 1, 2, 3

-- query: concurrent
WITH ev AS (SELECT customer_id, at AS started, at + session_length AS ended FROM events), pts AS (SELECT started AS t, 1 AS delta FROM ev UNION ALL SELECT ended, -1 FROM ev) SELECT t, sum(delta) OVER (ORDER BY t, delta DESC ROWS UNBOUNDED PRECEDING) AS concurrent FROM pts

-- query: event_id_overlapping
SELECT a.event_id, b.event_id AS overlapping FROM events a JOIN events b ON a.customer_id = b.customer_id AND a.event_id < b.event_id AND a.at < b.at + b.session_length AND b.at < a.at + a.session_length

-- query: warranty_end_plus1
SELECT product_id, title, price, lead_time, current_date() + lead_time AS eta, now() + lead_time AS eta_ts, extract(DAY FROM lead_time) AS lead_days, warranty / 12 AS w12, add_months(current_date(), 12) AS renew, current_date() + warranty AS warranty_end, make_dt_interval(1) + lead_time AS plus1 FROM products

-- query: addr_geo
SELECT c1.customer_id, c1.referrer_id, c2.name AS referrer, count(*) OVER (PARTITION BY c1.referrer_id) AS siblings, coalesce(c2.address.city, 'n/a') AS ref_city, c2.loyalty.tier AS ref_tier, c2.address AS addr, c2.address.geo AS geo FROM customers c1 LEFT JOIN customers c2 ON c1.referrer_id = c2.customer_id

-- query: depth
WITH RECURSIVE ref AS (SELECT customer_id, referrer_id, 0 AS depth FROM customers WHERE referrer_id IS NULL UNION ALL SELECT c.customer_id, c.referrer_id, r.depth + 1 FROM customers c JOIN ref r ON c.referrer_id = r.customer_id WHERE r.depth < 10) SELECT depth, count(*) AS n FROM ref GROUP BY depth

-- query: month_net
FROM orders |> WHERE order_date >= DATE'2024-01-01' |> JOIN customers USING (customer_id) |> EXTEND amount * (1 - coalesce(discount, 0)) AS net |> AGGREGATE sum(net) AS net, count(*) AS n GROUP BY country, date_trunc('MONTH', order_date) AS month |> EXTEND rank() OVER (PARTITION BY month ORDER BY net DESC) AS rk |> WHERE rk <= 3 |> ORDER BY month, rk

-- query: amount_name
WITH o AS (FROM orders |> SELECT order_id, customer_id, amount), c AS (SELECT customer_id, name FROM customers) FROM o |> LEFT JOIN c USING (customer_id) |> SET amount = round(amount, 0) |> DROP customer_id

-- query: uniques_status
SELECT hll_sketch_estimate(hll_union(a.sk, b.sk)) AS uniques, a.status FROM (SELECT status, hll_sketch_agg(customer_id) AS sk FROM orders GROUP BY status) a JOIN (SELECT status, hll_sketch_agg(customer_id) AS sk FROM orders WHERE is_gift GROUP BY status) b ON a.status = b.status

-- query: bad_null_rate
SELECT count(*) AS n_rows, count(*) - count(email) AS null_emails, count(email) / count(*) AS fill, count(DISTINCT email) AS d, count(DISTINCT email) = count(*) AS is_unique, min(length(email)) AS lo, max(length(email)) AS hi, sum(CASE WHEN email NOT RLIKE '^[^@]+@[^@]+$' THEN 1 ELSE 0 END) AS bad, avg(CAST(email IS NULL AS INT)) AS null_rate, bool_and(customer_id > 0) AS ok FROM customers

-- query: count_coalesce_sum
SELECT 'orders' AS t, count(*) AS n FROM orders WHERE amount < 0 UNION ALL SELECT 'orphans', count(*) FROM orders o LEFT ANTI JOIN customers c USING (customer_id) UNION ALL SELECT 'dupes', coalesce(sum(n - 1), 0) FROM (SELECT order_id, count(*) AS n FROM orders GROUP BY order_id HAVING count(*) > 1)

-- query: month_start_local_hour
SELECT customer_id, from_unixtime(unix_timestamp(ordered_at), 'yyyy-MM-dd HH:00:00') AS hr, to_date(date_format(ordered_at, 'yyyy-MM-01')) AS month_start, hour(from_utc_timestamp(ordered_at, 'Europe/Berlin')) AS local_hour, date_format(convert_timezone('UTC', 'America/New_York', CAST(ordered_at AS TIMESTAMP_NTZ)), 'HH') AS ny, weekofyear(order_date) AS wk, CAST(date_format(order_date, 'u') AS INT) IS NULL AS u FROM orders

-- query: cadence_vip
SELECT o.customer_id, sum(o.amount) AS ltv, count(*) AS n, sum(o.amount) / count(*) AS aov, sum(o.amount) / count(DISTINCT date_trunc('MONTH', o.order_date)) AS per_month, min(o.order_date) AS first, datediff(max(o.order_date), min(o.order_date)) / nullif(count(*) - 1, 0) AS cadence, sum(o.amount) > 1000 AND count(*) > 5 AS vip FROM orders o GROUP BY o.customer_id

-- query: tag_idx
SELECT p.product_id, p.sku, t.tag, idx FROM products p LATERAL VIEW posexplode(array('a', 'b', p.category)) t AS idx, tag WHERE t.tag IS NOT NULL

-- query: size
SELECT s.size, count(*) AS n FROM products LATERAL VIEW explode(sizes) s AS size GROUP BY s.size ORDER BY n DESC

-- query: page_total
SELECT event_id, properties['page'].value AS page, properties['page'].weight AS w, map_keys(properties) AS ks, transform_values(properties, (k, v) -> v.weight) AS ws, aggregate(map_values(properties), 0D, (a, v) -> a + coalesce(v.weight, 0)) AS total, element_at(properties, 'x').value AS xv, map_entries(properties)[0].key AS k0 FROM events

-- query: widths_dot
SELECT event_id, matrix[0][0] AS a, flatten(matrix) AS f, aggregate(flatten(matrix), 0, (a, x) -> a + x) AS s, transform(matrix, r -> size(r)) AS widths, transform(matrix, r -> array_max(r)) AS mx, exists(matrix, r -> forall(r, x -> x > 0)) AS e, zip_with(matrix[0], matrix[1], (x, y) -> x * y) AS dot, arrays_zip(matrix[0], matrix[1])[0] AS z FROM events

-- query: last_event_last_seen
SELECT COALESCE(a.customer_id, b.customer_id) AS customer_id, a.n AS orders_n, b.n AS events_n, coalesce(a.n, 0) + coalesce(b.n, 0) AS total, a.last_order, b.last_event, greatest(CAST(a.last_order AS TIMESTAMP), CAST(b.last_event AS TIMESTAMP)) AS last_seen FROM (SELECT customer_id, count(*) AS n, max(ordered_at) AS last_order FROM orders GROUP BY customer_id) a FULL OUTER JOIN (SELECT customer_id, count(*) AS n, max(at) AS last_event FROM events GROUP BY customer_id) b ON a.customer_id = b.customer_id

-- query: first_n_ratio
SELECT customer_id, n, first_n, ratio FROM (SELECT customer_id, count(*) AS n, count_if(order_date < add_months(min_date, 1)) AS first_n, first_n / n AS ratio FROM (SELECT *, min(order_date) OVER (PARTITION BY customer_id) AS min_date FROM orders) GROUP BY customer_id)

-- query: users_arpu
WITH w AS (SELECT *, to_date(date_trunc('WEEK', order_date)) AS wk FROM orders) SELECT wk, dayname(max(order_date)) AS last_day_name, sum(amount) AS total, sum(sum(amount)) OVER (ORDER BY wk ROWS BETWEEN 3 PRECEDING AND CURRENT ROW) AS four_weeks, avg(sum(amount)) OVER (ORDER BY wk ROWS BETWEEN 3 PRECEDING AND CURRENT ROW) AS mean4, count(DISTINCT customer_id) AS users, sum(amount) / count(DISTINCT customer_id) AS arpu FROM w GROUP BY wk HAVING sum(amount) > 0 ORDER BY wk

-- query: both_imp
SELECT order_id, CASE status WHEN 'N' THEN 'new' WHEN 'P' THEN 'paid' END AS st, coalesce(region_code, -1) AS region, nvl2(shipped_at, 'shipped', 'open') AS ship, if(is_gift, 1, 0) AS g, amount * coalesce(discount, 0) AS disc, amount * (1 - coalesce(discount, 0.0)) AS net, amount + tax AS gross, amount * 1.19 AS vat, weight * quantity AS wq, shipped_at - ordered_at AS wait, datediff(shipped_at, ordered_at) AS wait_days, due_date < shipped_at AS late, priority + region_code AS pr, is_gift AND is_paid AS both, NOT is_gift OR is_paid AS imp FROM orders

-- query: row_number
SELECT * FROM (SELECT o.order_id, l.line_no, l.quantity, p.price, row_number() OVER (PARTITION BY o.order_id ORDER BY p.price DESC) AS rk FROM orders o JOIN order_lines l USING (order_id) LEFT JOIN products p USING (product_id)) WHERE rk = 1

-- query: b64_active
SELECT product_id, sku, category, coalesce(title, sku) AS label, upper(substr(category, 1, 3)) || '-' || lpad(CAST(product_id AS STRING), 6, '0') AS code, format_string('%s (%s)', title, sku) AS disp, coalesce(attributes['color'], 'n/a') AS color, map_contains_key(attributes, 'size') AS has_size, price * (1 + rating / 100) AS adj, stock * price AS value, length(photo) AS bytes, base64(photo) AS b64, NOT coalesce(discontinued, false) AS active FROM products

-- query: pct100_cum
SELECT o.status, count(*) AS n, count(*) / sum(count(*)) OVER () AS pct, 100 * count(*) / sum(count(*)) OVER () AS pct100, round(100.0 * count(*) / sum(count(*)) OVER (), 1) AS r1, sum(count(*)) OVER (ORDER BY count(*) DESC) AS cum FROM orders o GROUP BY o.status ORDER BY n DESC

-- query: country_rev
SELECT c.country, o.y, o.rev, o.rev - lag(o.rev) OVER (PARTITION BY c.country ORDER BY o.y) AS d FROM (SELECT customer_id, year(order_date) AS y, sum(amount) AS rev FROM orders GROUP BY ALL) o INNER JOIN customers c ON c.customer_id = o.customer_id WHERE o.y BETWEEN 2020 AND 2024 AND c.country IN ('DE', 'FR') AND c.email IS NOT NULL

-- query: order_id_amount_2
SELECT x.customer_id, x.r.order_id, x.r.amount FROM (SELECT customer_id, explode(slice(reverse(array_sort(collect_list(struct(amount, order_id)))), 1, 3)) AS r FROM orders GROUP BY customer_id) x

-- query: day_dow
SELECT id, date_add(DATE'2024-01-01', CAST(id AS INT)) AS day, id % 7 AS dow, CAST(id / 7 AS INT) AS wk, DATE'2024-01-01' + CAST(id AS INT) AS d2, timestampadd(HOUR, id, TIMESTAMP'2024-01-01 00:00:00') AS ts FROM range(366)

-- query: hour_slot
SELECT d.day, h.hour, make_timestamp(year(d.day), month(d.day), day(d.day), h.hour, 0, 0) AS slot FROM calendar d CROSS JOIN (SELECT explode(sequence(0, 23)) AS hour) h WHERE NOT d.is_holiday

-- query: row_number_max_count
WITH a AS (SELECT customer_id, status, row_number() OVER (PARTITION BY customer_id ORDER BY ordered_at) AS n FROM orders), b AS (SELECT customer_id, max(CASE WHEN n = 1 THEN status END) AS s1, max(CASE WHEN n = 2 THEN status END) AS s2 FROM a GROUP BY customer_id) SELECT s1, s2, count(*) AS c FROM b GROUP BY CUBE(s1, s2)

-- query: customer_id_total
SELECT customer_id, sum(amount) AS total FROM orders GROUP BY customer_id ORDER BY total DESC NULLS LAST LIMIT 10

-- query: geo_tier
SELECT c.* EXCEPT (address, loyalty), c.address.*, c.loyalty.tier AS tier FROM customers c

-- query: whole_doc
SELECT struct(c.*) AS whole, to_json(struct(c.*)) AS js, named_struct('id', c.customer_id, 'addr', c.address, 'tags', coalesce(c.tags, array('none'))) AS doc FROM customers c

-- query: de_limit_northern
SELECT count(*) FILTER (WHERE email IS NULL) AS no_email, count(*) FILTER (WHERE size(tags) > 0) AS tagged, sum(credit_limit) FILTER (WHERE country = 'DE') AS de_limit, array_agg(name) FILTER (WHERE address.geo.lat > 50) AS northern, max(address.geo) AS mg, min(loyalty) AS ml, first(address) AS fa FROM customers
