-- query: count_approx_count_distinct_count_if_any
SELECT count(*) AS a, count(1) AS b, count(DISTINCT status) AS c, count(status, note) AS d, count(DISTINCT status, note) AS e, approx_count_distinct(status) AS f, approx_count_distinct(amount, 0.1) AS g, count_if(is_paid) AS h, any(is_gift) AS i, every(is_paid) AS j, bool_or(is_paid) AS k FROM orders

-- query: percentile_array_percentile_approx_appro
SELECT percentile(amount, 0.5) AS a, percentile(quantity, array(0.25, 0.75)) AS b, percentile_approx(amount, 0.5) AS c, percentile_approx(amount, array(0.5, 0.9), 100) AS d, approx_percentile(quantity, 0.1) AS e, percentile_cont(0.5) WITHIN GROUP (ORDER BY amount) AS f, percentile_disc(0.5) WITHIN GROUP (ORDER BY quantity DESC) AS g, median(tax) AS h, mode(status) AS i, mode() WITHIN GROUP (ORDER BY status) AS j, percentile(amount, 0.5, quantity) AS k FROM orders

-- query: regr_count_regr_avgx_regr_avgy_regr_sxx
SELECT regr_count(tax, quantity) AS a, regr_avgx(tax, quantity) AS b, regr_avgy(amount, quantity) AS c, regr_sxx(tax, weight) AS d, regr_sxy(tax, weight) AS e, regr_syy(tax, weight) AS f, regr_r2(tax, weight) AS g, regr_slope(tax, weight) AS h, regr_intercept(tax, weight) AS i, corr(tax, amount) AS j, covar_pop(tax, amount) AS k, covar_samp(1, 2) AS l FROM orders

-- query: gid_gid2
SELECT status, grouping(status) AS g, grouping_id() AS gid, grouping_id(status, region_code) AS gid2, count(*) AS n FROM orders GROUP BY CUBE(status, region_code)

-- query: status_region_code
SELECT status, region_code, sum(amount) AS s FROM orders GROUP BY ROLLUP(status, region_code)

-- query: status_quantity
SELECT status, quantity, count(*) AS n FROM orders GROUP BY GROUPING SETS ((status, quantity), (status), ())

-- query: quantity_is_gift
SELECT status, quantity, is_gift, count(*) FROM orders GROUP BY status, ROLLUP(quantity, is_gift)

-- query: order_date_status
SELECT order_date, status, count(*) AS c FROM orders GROUP BY order_date, CUBE(status), GROUPING SETS ((quantity), ())

-- query: count
SELECT quantity + 1 AS q, count(*) FROM orders GROUP BY quantity + 1 WITH ROLLUP

-- query: status_quantity_2
SELECT status, quantity, max(amount) FROM orders GROUP BY status, quantity WITH CUBE

-- query: count_2
SELECT status AS s, count(*) AS n FROM orders GROUP BY s HAVING n > 1 ORDER BY n DESC

-- query: status
SELECT status, upper(status) AS u, count(*) FROM orders GROUP BY ALL

-- query: status_region_code_2
SELECT status, region_code, amount * 2 AS d, sum(quantity) AS q FROM orders GROUP BY ALL ORDER BY ALL

-- query: order_date_status_2
SELECT order_date, status, count(*) FROM orders GROUP BY 1, 2 ORDER BY 3 DESC, 1

-- query: paid_notes
SELECT substr(status, 1, 1) AS k, sum(amount) FILTER (WHERE is_paid) AS paid, count(*) FILTER (WHERE quantity > 1 AND NOT is_gift) AS n, collect_list(note) FILTER (WHERE note IS NOT NULL) AS notes FROM orders GROUP BY 1

-- query: amount
SELECT sum(amount) AS amount FROM orders HAVING sum(quantity) > 10

-- query: customer_id_amount
SELECT customer_id, sum(amount) AS amount FROM orders GROUP BY customer_id HAVING amount > 10

-- query: status_2
SELECT customer_id AS status, count(*) AS n FROM orders GROUP BY customer_id, status ORDER BY status

-- query: max_min_concat_count_coalesce_sum
SELECT max(amount) + min(quantity) * 2 AS x, concat('n', count(*)) AS y, count(*) > 1 AS z, coalesce(sum(discount), 0) AS w, sum(sum(amount)) OVER () AS t FROM orders

-- query: customer_id_share
SELECT customer_id, sum(amount) / sum(sum(amount)) OVER () AS share, rank() OVER (ORDER BY sum(amount) DESC) AS r FROM orders GROUP BY customer_id

-- query: one
SELECT 1 AS one, 'x' AS s FROM orders GROUP BY status

-- query: sum_avg_min
SELECT sum(x) AS s, avg(y) AS a, min(z) AS m FROM VALUES (1, 2.5, 'a'), (2, NULL, 'b') AS t(x, y, z)

-- query: struct_count_array_max_min_map_sum
SELECT struct(status, count(*)) AS s, array(max(amount), min(amount)) AS a, map(status, sum(quantity)) AS m FROM orders GROUP BY status

-- query: sum_count_max
SELECT CASE WHEN sum(amount) > 10 THEN 'big' WHEN count(*) = 0 THEN NULL ELSE 'small' END AS c, if(max(is_gift), 1, 0) AS g, max(CASE WHEN status = 'x' THEN order_date END) AS d, sum(CAST(is_gift AS INT)) AS n FROM orders

-- query: status_3
SELECT DISTINCT status, count(*) OVER (PARTITION BY status) AS n FROM orders

-- query: count_3
SELECT ordered_at::date AS d, count(DISTINCT customer_id) AS u FROM orders GROUP BY ordered_at::date

-- query: status_4
SELECT o.status, o.region_code + 1 AS r FROM orders o GROUP BY o.status, region_code

-- query: avg_sum_max_mode_collect_set_percentile
SELECT avg(lead_time) AS a, sum(warranty) AS b, max(lead_time) AS c, mode(lead_time) AS d, collect_set(warranty) AS e, percentile_cont(0.5) WITHIN GROUP (ORDER BY lead_time) AS f, median(warranty) AS g FROM products

-- query: mode_listagg_string_agg_percentile_cont
SELECT mode(status, true) AS a, listagg(status, '|') WITHIN GROUP (ORDER BY status) AS b, listagg(DISTINCT status) AS c, string_agg(CAST(quantity AS STRING), ',') AS d, listagg(quantity) AS e, percentile_cont(array(0.1, 0.9)) WITHIN GROUP (ORDER BY tax) AS f, grouping(status) AS g FROM orders GROUP BY ROLLUP(status)

-- query: bit_and_try_sum_try_avg_sum_avg_max_coun
SELECT bit_and(b) AS a, try_sum(i) AS b, try_avg(d5) AS c, try_sum(l) AS d, sum(NULL) AS e, avg(NULL) AS f, max(NULL) AS g, count(NULL) AS h, collect_list(NULL) AS i, sum('5') AS j, avg('1') AS k, first(NULL) AS l FROM numbers

-- query: transform_upper_filter_exists_forall_len
SELECT transform(tags, t -> upper(t)) AS a, transform(sizes, (s, i) -> s + i) AS b, filter(tags, t -> t IS NOT NULL) AS c, filter(sizes, (s, i) -> i > 0) AS d, exists(sizes, s -> s > 1) AS e, forall(tags, t -> length(t) > 1) AS f, aggregate(sizes, 0, (acc, s) -> acc + s) AS g, aggregate(sizes, 0L, (acc, s) -> acc + s, acc -> acc * 1.0D) AS h, reduce(sizes, 0, (a, b) -> a + b) AS i, array_sort(sizes, (l, r) -> l - r) AS j, zip_with(sizes, tags, (x, y) -> concat(x, y)) AS k FROM products CROSS JOIN customers

-- query: map_filter_transform_keys_upper_transfor
SELECT map_filter(attributes, (k, v) -> v > 'a') AS a, transform_keys(attributes, (k, v) -> upper(k)) AS b, transform_values(attributes, (k, v) -> length(v)) AS c, map_zip_with(attributes, map('a', 1), (k, x, y) -> concat(x, y)) AS d, map_keys(attributes) AS e, map_values(attributes) AS f, map_entries(attributes) AS g, map_from_entries(map_entries(attributes)) AS h, map_concat(attributes, map('x', 'y')) AS i, map_contains_key(attributes, 'x') AS j, map_from_arrays(array('a'), array(1)) AS k FROM products

-- query: element_at_try_element_at_map_size_cardi
SELECT attributes['color'] AS a, element_at(attributes, 'x') AS b, try_element_at(attributes, 'x') AS c, attributes.color AS d, map('a', 1)['a'] AS e, map(1, 'x')[1] AS f, size(attributes) AS g, cardinality(map()) AS h, attributes IS NULL AS i, element_at(map('a', 1), 'b') AS j FROM products

-- query: element_at_get_array_try_element_at
SELECT sizes[0] AS a, element_at(sizes, -1) AS b, get(sizes, 5) AS c, tags[0] AS d, array(1, 2, 3)[1] AS e, try_element_at(sizes, 9) AS f, items[0].product_id AS g, items.product_id AS h, items.price AS i, matrix[0][1] AS j, items[0] AS k, element_at(items, 1).qty AS l FROM products CROSS JOIN customers CROSS JOIN events

-- query: city_geo
SELECT address.city AS a, address.geo.lat AS b, loyalty.tier AS c, loyalty.points AS d, address.* FROM customers

-- query: since_customer_id
SELECT loyalty.*, customer_id FROM customers

-- query: named_struct_struct
SELECT named_struct('a', 1, 'b', 'x') AS a, struct(1, 'x', name) AS b, struct(name AS n, email AS e) AS c, (1, 'a') AS d, named_struct('a', named_struct('b', NULL)).a.b AS e, struct(customer_id, address.city) AS f, struct(*) AS g, struct(address.geo.lat + 1) AS h FROM customers

-- query: array_named_struct_map
SELECT array(1, 2L) AS a, array(1, 1.5) AS b, array(1, 1.5D) AS c, array('a', 1) AS d, array(NULL, 1) AS e, array() AS f, array(array(), array(1)) AS g, array(named_struct('a', 1), named_struct('a', NULL)) AS h, array(map('a', 1), map('b', 2L)) AS i, array(CAST(1 AS DECIMAL(5,2)), CAST(1 AS DECIMAL(10,0))) AS j, array(DATE'2020-01-01', NULL) AS k

-- query: map_array_named_struct_str_to_map
SELECT map('a', 1, 'b', 2.5) AS a, map(1, NULL, 2, 'x') AS b, map() AS c, map('k', array(1), 'j', array(NULL)) AS d, map(array(1), 'x') AS e, map(named_struct('a', 1), 2) AS f, str_to_map('a=1', ',', '=')['a'] AS g, map('a', map('b', 1))['a']['b'] AS h

-- query: array_max_array_min_sort_array_array_sor
SELECT array_max(sizes) AS a, array_min(tags) AS b, sort_array(sizes) AS c, sort_array(tags, false) AS d, array_sort(tags) AS e, array_distinct(sizes) AS f, array_union(sizes, array(1, 2)) AS g, array_intersect(tags, array('x')) AS h, array_except(sizes, array(NULL)) AS i, arrays_overlap(sizes, array(1)) AS j, arrays_zip(sizes, tags) AS k, array_remove(sizes, 1) AS l, array_position(sizes, 1) AS m FROM products CROSS JOIN customers

-- query: arrays_zip_array_flatten_array_repeat_sl
SELECT arrays_zip(array(1), array('a')) AS a, arrays_zip(items, scores) AS b, arrays_zip(items.qty, items.price) AS c, flatten(matrix) AS d, array_repeat(items, 2) AS e, slice(items, 1, 2) AS f, sequence(1, 5, 2) AS g, sequence(5L, 1) AS h, array_contains(scores, 1) AS i, array_append(scores, 1) AS j, array_prepend(matrix, array(1)) AS k, array_insert(scores, 2, 5) AS l, array_compact(scores) AS m FROM events

-- query: qty_price
SELECT inline(items) FROM events

-- query: event_id_item
SELECT event_id, explode(items) AS item FROM events

-- query: event_id_score
SELECT event_id, posexplode(scores) AS (i, score) FROM events

-- query: event_id_product_id
SELECT e.event_id, i.product_id, i.qty * i.price AS v FROM events e LATERAL VIEW inline(e.items) i AS product_id, qty, price

-- query: value_weight
SELECT e.event_id, k, v.value, v.weight FROM events e LATERAL VIEW OUTER explode(properties) p AS k, v

-- query: event_id
SELECT event_id, x, y FROM events LATERAL VIEW explode(matrix) m AS r LATERAL VIEW posexplode(r) c AS x, y

-- query: event_id_2
SELECT json_tuple(payload, 'a', 'b') AS (a, b), event_id FROM events

-- query: score
SELECT t.* FROM events, LATERAL explode(scores) AS t(score)

-- query: pos_col
SELECT event_id, t.pos, t.col FROM events LEFT JOIN LATERAL posexplode(scores) t ON t.pos > 0

-- query: explode_array
SELECT * FROM explode(array(1, 2, 3)) AS t(n)

-- query: range
SELECT * FROM range(10)

-- query: range_2
SELECT id, id * 2 AS d FROM range(1, 10, 2, 4) r

-- query: json_tuple
SELECT * FROM json_tuple('{"a":1}', 'a', 'b')

-- query: variant_explode_parse_json
SELECT * FROM variant_explode(parse_json('[1,2]'))

-- query: key_value
SELECT e.event_id, v.* FROM events e, LATERAL variant_explode_outer(e.body) v

-- query: named_struct_array_struct
SELECT named_struct('a', 1) = named_struct('a', 1L) AS a, array(1) = array(1L) AS b, struct(1, 'a') < struct(2, 'b') AS c, array(1, 2) IN (array(1L)) AS d, (1, 'a') IN ((1, 'a'), (2, 'b')) AS e, named_struct('a', 1) IS NULL AS f

-- query: array_map_named_struct
SELECT CAST(array(1) AS ARRAY<STRING>) AS a, CAST(map('1', 2) AS MAP<INT, DOUBLE>) AS b, CAST(named_struct('a', 1, 'b', '2') AS STRUCT<x: BIGINT, y: INT>) AS c, CAST(sizes AS ARRAY<BIGINT>) AS d, CAST(items AS ARRAY<STRUCT<p: BIGINT, q: STRING, r: DOUBLE>>) AS e, CAST(attributes AS STRING) AS f, CAST(array(named_struct('a', 1)) AS STRING) AS g, CAST(NULL AS ARRAY<INT>) AS h FROM products CROSS JOIN events

-- query: transform_struct_coalesce_aggregate_filt
SELECT transform(items, i -> i.qty * i.price) AS a, transform(items, i -> struct(i.product_id AS id, coalesce(i.qty, 0) AS q)) AS b, aggregate(items, CAST(0 AS DECIMAL(20,2)), (acc, i) -> CAST(acc + coalesce(i.price, 0) AS DECIMAL(20,2))) AS c, filter(items, i -> i.qty > 1)[0].price AS d, transform(matrix, r -> transform(r, x -> x + 1)) AS e, map_from_entries(transform(items, i -> (i.product_id, i.qty))) AS f, array_max(transform(items, i -> i.price)) AS g FROM events

-- query: shuffle_array_size_size_concat_array_rev
SELECT shuffle(sizes) IS NULL AS a, array_size(sizes) AS b, size(NULL) AS c, concat(sizes, sizes) AS d, concat(array(1), array('a')) AS e, reverse(array(1, NULL)) AS f, array_join(array('a', NULL), '-') AS g, element_at(array(1, 2), 1) + 1 AS h, exists(array(1, NULL), x -> x IS NULL) AS i, array_agg(product_id) AS j FROM products GROUP BY sizes

-- query: struct
SELECT struct(address.*, name) AS a, struct(c.customer_id, c.address.geo.*) AS b FROM customers c

-- query: collect_list_struct_collect_set_array_ag
SELECT collect_list(struct(order_id, amount)) AS a, collect_set(status) AS b, array_agg(DISTINCT status) AS c, map_from_arrays(collect_list(order_id), collect_list(status)) AS d, max_by(struct(order_id, amount), ordered_at) AS e, first(struct(status, note)) AS f, sort_array(collect_list(struct(ordered_at, order_id)))[0].order_id AS g, max(struct(amount, order_id)).order_id AS h FROM orders

-- query: date_format_from_unixtime_unix_timestamp
SELECT date_format(ordered_at, 'yyyy-MM') AS a, date_format(order_date, 'E') AS b, date_format(note, 'HH:mm') AS c, from_unixtime(1) AS d, from_unixtime(order_id, 'yyyy') AS e, unix_timestamp(ordered_at) AS f, unix_timestamp(note, 'yyyy') AS g, to_unix_timestamp(shipped_at) AS h, unix_date(order_date) AS i, unix_seconds(ordered_at) AS j, unix_millis(shipped_at) AS k, unix_micros(ordered_at) AS l FROM orders

-- query: to_date_to_timestamp_to_timestamp_ntz_to
SELECT to_date('2024-01-01') AS a, to_date(note) AS b, to_date(note, 'yyyyMMdd') AS c, to_date(ordered_at) AS d, to_timestamp(note) AS e, to_timestamp('2020', 'yyyy') AS f, to_timestamp_ntz(note) AS g, to_timestamp_ltz(note, 'y') AS h, try_to_timestamp(note) AS i, try_to_date(note) AS j, date(note) AS k, timestamp(order_date) AS l, to_timestamp(order_date) AS m FROM orders

-- query: make_date_make_timestamp_make_timestamp
SELECT make_date(2024, 1, 1) AS a, make_date(quantity, priority, 1) AS b, make_timestamp(2024, 1, 1, 0, 0, 0) AS c, make_timestamp(2024, 1, 1, 0, 0, 1.5, 'UTC') AS d, make_timestamp_ntz(2024, 1, 1, 0, 0, 0) AS e, make_timestamp_ltz(2024, 1, 1, 0, 0, 0) AS f, try_make_timestamp(2024, 1, 1, 0, 0, 0) AS g, make_interval(1, 2) AS h, make_dt_interval(1, 2, 3, 4.5) AS i, make_ym_interval(1, 2) AS j, try_make_interval(1) AS k, date_from_unix_date(quantity) AS l FROM orders

-- query: date_add_date_sub_add_months_months_betw
SELECT date_add(order_date, 1) AS a, date_sub(due_date, 1) AS b, add_months(order_date, quantity) AS c, months_between(ordered_at, shipped_at) AS d, months_between(order_date, due_date, false) AS e, datediff(order_date, due_date) AS f, date_diff(due_date, '2020-01-01') AS g, datediff(DAY, order_date, shipped_at) AS h, timestampdiff(HOUR, ordered_at, shipped_at) AS i, dateadd(MONTH, 1, order_date) AS j, timestampadd(SECOND, quantity, ordered_at) AS k, last_day(due_date) AS l, next_day(order_date, 'MON') AS m, date_add(DAY, 1, ordered_at) AS n FROM orders

-- query: abs_sign
SELECT lead_time * 2 AS a, lead_time / 3 AS b, warranty * 1.5 AS c, warranty / 2 AS d, 2 * lead_time AS e, lead_time + lead_time AS f, warranty - INTERVAL 1 MONTH AS g, -lead_time AS h, abs(lead_time) AS i, sign(warranty) AS j, lead_time > INTERVAL 1 DAY AS k, +warranty AS l, lead_time * 2.5D AS m, warranty * stock AS n FROM products

-- query: greatest_array_coalesce
SELECT INTERVAL 1 DAY + INTERVAL 1 HOUR AS a, INTERVAL '1' DAY + INTERVAL '1' MINUTE AS b, INTERVAL 1 YEAR + INTERVAL 1 MONTH AS c, greatest(INTERVAL 1 DAY, INTERVAL 2 HOUR) AS d, array(INTERVAL 1 DAY, INTERVAL 1 SECOND) AS e, CASE WHEN true THEN INTERVAL 1 YEAR ELSE INTERVAL 1 MONTH END AS f, coalesce(INTERVAL 1 HOUR, INTERVAL 1 DAY) AS g, CAST(INTERVAL 1 DAY AS INTERVAL HOUR) AS h, CAST('1' AS INTERVAL DAY) AS i, CAST(5 AS INTERVAL MONTH) AS j, CAST(INTERVAL 3 MONTH AS INT) AS k, CAST(INTERVAL '1' DAY AS DECIMAL(10,2)) AS l

-- query: date_trunc_trunc_window_time_window
SELECT date_trunc('quarter', ordered_at) AS a, date_trunc('MM', order_date) AS b, trunc(order_date, 'Q') AS c, date_trunc('DAY', at) AS d, trunc(note, 'MM') AS e, date_trunc(status, ordered_at) AS f, window_time(w.window) AS g FROM orders CROSS JOIN events CROSS JOIN (SELECT window(ts, '1 hour') AS window FROM VALUES (TIMESTAMP '2020-01-01 00:00:00') AS q(ts) GROUP BY window(ts, '1 hour')) w

-- query: window_count
SELECT window(ordered_at, '1 day') AS w, count(*) AS n FROM orders GROUP BY window(ordered_at, '1 day')

-- query: sum_window
SELECT window.start AS s, window.end AS e, sum(amount) AS t FROM orders GROUP BY window(ordered_at, '1 hour', '10 minutes')

-- query: start_end
SELECT session_window.start, session_window.end, count(*) AS n FROM events GROUP BY session_window(received, '5 minutes'), customer_id

-- query: customer_id
SELECT customer_id, session_window(at, '10 minutes') AS s, count(1) AS c FROM events GROUP BY customer_id, session_window(at, '10 minutes')

-- query: dayname_monthname_dayofweek_weekday_hour
SELECT dayname(order_date) AS a, monthname(due_date) AS b, dayofweek(ordered_at) AS c, weekday(note) AS d, hour(note) AS e, second(at) AS f, year('2020-01-01') AS g, quarter(at) AS h, weekofyear(shipped_at) AS i, month(order_date) AS j, day(due_date) AS k FROM orders CROSS JOIN events

-- query: plain
SELECT DATE '2024-01-01' AS a, TIMESTAMP '2024-01-01 00:00:00' AS b, TIMESTAMP_NTZ '2024-01-01 00:00:00' AS c, TIMESTAMP_LTZ '2024-01-01 00:00:00' AS d, TIMESTAMP '2024-01-01 00:00:00+02:00' AS e, date'2024-02' AS f, DATE'epoch' IS NULL AS g, timestamp'2024-01-01' - date'2023-01-01' AS h

-- query: coalesce_greatest_array_nullif
SELECT ordered_at = at AS a, order_date = ordered_at AS b, order_date < '2024-01-01' AS c, at > '2024-01-01 00:00:00' AS d, order_date BETWEEN '2020-01-01' AND due_date AS e, ordered_at IN (order_date, shipped_at) AS f, coalesce(order_date, ordered_at) AS g, greatest(at, received) AS h, CASE WHEN is_gift THEN order_date ELSE at END AS i, array(order_date, ordered_at) AS j, nullif(order_date, due_date) AS k FROM orders CROSS JOIN events

-- query: sequence_explode
SELECT sequence(order_date, due_date) AS a, sequence(order_date, due_date, INTERVAL 1 MONTH) AS b, sequence(ordered_at, shipped_at, INTERVAL 1 HOUR) AS c, sequence(DATE'2020-01-01', DATE'2020-02-01', INTERVAL 7 DAYS) AS d, sequence(at, at, INTERVAL 1 DAY) AS e, explode(sequence(DATE'2020-01-01', DATE'2020-02-01')) AS f FROM orders CROSS JOIN events

-- query: max_min_avg_sum_datediff_count_percentil
SELECT max(order_date) - min(order_date) AS a, max(ordered_at) - min(ordered_at) AS b, avg(ordered_at - shipped_at) AS c, sum(due_date - order_date) AS d, sum(datediff(due_date, order_date)) / count(*) AS e, min(at) AS f, percentile_approx(ordered_at, 0.5) AS g, percentile(lead_time, 0.5) AS h, median(warranty) AS i, approx_percentile(order_date, array(0.1, 0.9)) AS j FROM orders CROSS JOIN events CROSS JOIN products

-- query: try_cast
SELECT CAST(order_date AS STRING) || ' ' || CAST(ordered_at AS STRING) AS a, CAST(1700000000 AS TIMESTAMP) AS b, CAST(ordered_at AS DOUBLE) AS c, CAST('2024-01-01' AS TIMESTAMP_NTZ) AS d, ordered_at::date AS e, '2024-01-01'::date + 1 AS f, note::timestamp AS g, try_cast(note AS DATE) AS h, CAST(NULL AS DATE) AS i FROM orders

-- query: try_add_try_subtract_try_multiply_try_di
SELECT try_add(order_date, 1) AS a, try_subtract(order_date, INTERVAL 1 DAY) AS b, try_add(ordered_at, INTERVAL 1 MONTH) AS c, try_add(lead_time, INTERVAL 1 HOUR) AS d, try_multiply(lead_time, 3) AS e, try_divide(warranty, 2) AS f, try_add(INTERVAL 1 DAY, order_date) AS g FROM orders CROSS JOIN products

-- query: date_add_date_sub_add_months_next_day_mo
SELECT date_add(order_date, priority) AS a, date_add(order_date, region_code) AS b, date_sub('2024-01-01', 1) AS c, order_date + quantity AS d, order_date - priority AS e, due_date + CAST(1 AS SMALLINT) AS f, add_months('2024-01-31', 1) AS g, next_day(note, status) AS h, months_between('2024-01-01', '2023-01-01') AS i FROM orders

-- query: from_json_get_json_object_json_array_len
SELECT from_json(payload, 'a INT, b STRUCT<c: STRING, d: ARRAY<DOUBLE>>').b.d[0] AS a, from_json(payload, 'MAP<STRING, STRING>')['k'] AS b, get_json_object(payload, '$.x.y') AS c, json_array_length(payload) AS d, json_object_keys('{"a":1}') AS e, to_json(struct(event_id AS id)) AS f, to_json(map('a', 1)) AS g, schema_of_json('[{"a":1.5}]') AS h FROM events

-- query: parse_json_try_parse_json_to_variant_obj
SELECT parse_json('{"a":1}') AS a, try_parse_json(payload) AS b, parse_json(payload) AS c, to_variant_object(named_struct('a', 1)) AS d, CAST(1 AS VARIANT) AS e, CAST(body AS STRING) AS f, CAST(body AS MAP<STRING, INT>) AS g, schema_of_variant_agg(body) OVER () AS h, to_json(body) AS i, body::timestamp AS j FROM events

-- query: from_csv_map_to_csv_named_struct_schema
SELECT from_csv('1,2', 'a INT, b INT') AS a, from_csv(payload, 'x STRING', map('sep', '|')).x AS b, to_csv(named_struct('a', 1)) AS c, schema_of_csv('1,a,2.5') AS d, to_csv(struct(event_id, at), map('timestampFormat', 'yyyy')) AS e FROM events

-- query: from_xml_to_xml_named_struct_xpath_text
SELECT from_xml('<r><a>1</a></r>', 'a INT') AS a, to_xml(named_struct('a', 1)) AS b, xpath(payload, '/a/b/text()') AS c, xpath_int(payload, 'sum(a/b)') AS d, schema_of_xml('<r><a>1</a></r>') AS e, xpath_string('<a>b</a>', 'a') AS f FROM events

-- query: from_json_schema_of_json_explode
SELECT from_json('[1,2]', 'ARRAY<INT>') AS a, from_json('{"a":1}', 'a INT').a + 1 AS b, from_json(payload, 'STRUCT<a: INT NOT NULL>') AS c, from_json(payload, 'a DECIMAL(10,2), b DATE, c TIMESTAMP, d BINARY') AS d, from_json(payload, 'VARIANT') AS e, from_json(payload, schema_of_json('{"x":[{"y":true}]}')) AS f, explode(from_json(payload, 'ARRAY<STRUCT<k: STRING, v: INT>>')) AS g FROM events

-- query: mod_pmod
SELECT d5 + d10 AS a, d5 - d20 AS b, d5 * d20 AS c, d5 / d10 AS d, d20 % d5 AS e, d5 DIV d10 AS f, -d5 AS g, d38 + d380 AS h, d38 * d38 AS i, d380 / d5 AS j, d38 % d10 AS k, mod(d5, 3) AS l, pmod(d20, d5) AS m FROM numbers

-- query: plain_2
SELECT d5 + i AS a, d5 * l AS b, d10 / i AS c, d5 + 1 AS d, d5 * 1.5 AS e, d5 / 3 AS f, d5 + f AS g, d5 * d AS h, d5 + s AS i, d20 - b AS j, i + 1.5 AS k, l * 2.25 AS l, i / 2 AS m, 1 / 3 AS n, 1.0 / 3.00 AS o, d5 + '1' AS p, i + '2' AS q, i DIV 2 AS r FROM numbers

-- query: round_bround_ceil_floor_ceiling
SELECT round(d5) AS a, round(d5, 1) AS b, round(d20, -2) AS c, round(i) AS d, round(i, -1) AS e, round(d) AS f, bround(d5, 1) AS g, ceil(d5) AS h, floor(d20) AS i, ceil(d) AS j, floor(d5, 1) AS k, ceiling(i) AS l, ceil(d20, -1) AS m, round(2.5) AS n, round(f, 2) AS o, round(1.2345, 2) AS p FROM numbers

-- query: abs_sign_signum_sqrt_cbrt_power_pow_exp
SELECT abs(d5) AS a, abs(i) AS b, sign(d20) AS c, signum(d) AS d, sqrt(i) AS e, cbrt(d5) AS f, power(i, 2) AS g, pow(d5, 2) AS h, exp(1) AS i, ln(d) AS j, log(2, i) AS k, log10(d5) AS l, log2(l) AS m, log1p(d) AS n, expm1(d) AS o, pi() AS p, e() AS q, factorial(5) AS r, hypot(3, 4) AS s FROM numbers

-- query: sin_cos_tan_asin_acos_sinh_acosh_cot_csc
SELECT sin(d) AS a, cos(i) AS b, tan(d5) AS c, asin(d) AS d, acos(d) AS e, atan2(1, i) AS f, sinh(d) AS g, acosh(d) AS h, cot(d) AS i, csc(d) AS j, sec(d) AS k, degrees(d5) AS l, radians(i) AS m, width_bucket(d, 0, 10, 5) AS n, rand() > 0 AS o, randn(3) IS NULL AS p, rint(d5) AS q, negative(d5) AS r, positive(i) AS s FROM numbers

-- query: shiftleft_shiftright_shiftrightunsigned
SELECT i & 3 AS a, i | l AS b, b ^ s AS c, ~i AS d, shiftleft(i, 2) AS e, shiftright(l, 1) AS f, shiftrightunsigned(i, 1) AS g, bit_count(i) AS h, bit_get(l, 0) AS i, getbit(i, 1) AS j, i << 2 AS k, l >> 1 AS l, i >>> 3 AS m, bit_and(i) OVER () AS n, bit_or(l) OVER () AS o, bit_xor(s) OVER () AS p, bitmap_bit_position(i) AS q, bitmap_bucket_number(l) AS r FROM numbers

-- query: try_add_try_subtract_try_multiply_try_di_2
SELECT try_add(i, 1) AS a, try_subtract(l, i) AS b, try_multiply(d5, d10) AS c, try_divide(i, 0) AS d, try_mod(i, 2) AS e, try_divide(d5, d10) AS f, try_add(d38, d380) AS g, try_multiply(i, 1.5) AS h, try_avg(i) OVER () AS i, try_sum(d5) OVER () AS j FROM numbers

-- query: greatest_least_coalesce_nanvl_nvl_isnan
SELECT greatest(i, l) AS a, least(i, d5) AS b, greatest(d5, d20) AS c, least(i, d) AS d, coalesce(ni, l) AS f, coalesce(ni, d5) AS g, coalesce(nl, f) AS h, if(i > 1, i, d5) AS i, nanvl(d, f) AS j, nvl(ni, 1.5) AS k, isnan(d) AS l, isnull(ni) AS m, isnotnull(i) AS n, equal_null(ni, i) AS o, nullif(i, 0) AS p, i / nullif(ni, 0) AS q FROM numbers

-- query: plain_3
SELECT 1 AS a, 1.5F AS g, 1.5BD AS h, 1e3 AS i, 1.5e-2 AS j, .5 AS k, 5. AS l, 12345678901234567890 AS n, -9223372036854775808 AS o, -2147483648 AS p, 1E5BD AS q, 99999999999999999999999999999999999999 AS r, 0.00000000000000000000000000000000000001 AS s, - -1 AS t, +1.0 AS u

-- query: sum_avg_count_stddev_round_count_if_max
SELECT sum(d5) AS a, sum(d20) AS b, avg(d5) AS c, avg(d38) AS d, sum(d5 * i) AS e, avg(d5 * d10) AS f, sum(i) / count(*) AS g, sum(d5) / sum(d20) AS h, avg(l) AS i, sum(s) AS j, sum(f) AS k, stddev(d5) AS l, round(avg(d5), 2) AS m, sum(CASE WHEN i > 1 THEN d5 ELSE 0 END) AS n, sum(if(i > 0, 1, 0)) AS o, count_if(i > 1) AS p, max(d5) - min(d5) AS q FROM numbers

-- query: array
SELECT CASE i WHEN 1 THEN d5 WHEN 2 THEN l END AS a, CASE WHEN i = 1 THEN 1 WHEN i = 2 THEN 2.5 ELSE 3L END AS b, CASE WHEN i > 0 THEN NULL ELSE 1 END AS c, CASE WHEN i > 0 THEN 'x' ELSE 1 END AS d, CASE WHEN i > 1 THEN array(1) ELSE array(1.5) END AS e, CASE WHEN true THEN NULL END AS f, CASE i WHEN 1L THEN 'a' WHEN d5 THEN 'b' ELSE 'c' END AS g FROM numbers

-- query: every_some_bool_and
SELECT i IS NULL AS a, ni IS NOT NULL AS b, (i > 1) IS TRUE AS c, (ni > 1) IS NOT FALSE AS d, (ni > 1) IS UNKNOWN AS e, ni IS DISTINCT FROM i AS f, i IS NOT DISTINCT FROM NULL AS g, true AND ni > 1 AS h, ni > 1 OR i > 1 AS i, NOT ni > 1 AS j, every(i > 1) OVER () AS k, some(ni > 1) OVER () AS l, bool_and(true) OVER () AS m FROM numbers

-- query: conv_hex_bin_uniform_randstr_ceil_floor
SELECT conv(i, 10, 2) AS a, hex(l) AS b, bin(i) AS c, uniform(0, 1.5, 3) AS g, uniform(1, 100L, 0) AS h, randstr(3, 0) AS i, ceil(5.4) AS j, ceil(-0.1) AS k, floor(3.1411, 3) AS l, d5 * 100 / nullif(sum(d5) OVER (), 0) AS m, round(100.0 * i / l, 2) AS n, cast(i AS double) / l AS o, 1.0 * i / 3 AS p, i * 1.10 AS q, d20 * (1 - d5) * (1 + d5) AS r, avg(d20 * (1 - d5)) OVER () AS s FROM numbers

-- query: upper_lower_initcap_ucase_lcase_char_len
SELECT upper(name) AS a, lower(email) AS b, initcap(country) AS c, ucase('x') AS d, lcase(name) AS e, char_length(name) AS f, character_length(email) AS g, length(photo) AS h, octet_length(name) AS i, bit_length(email) AS j FROM customers CROSS JOIN products

-- query: trim_ltrim_rtrim_btrim
SELECT trim(name) AS a, ltrim(email) AS b, rtrim(name) AS c, trim(BOTH 'x' FROM name) AS d, trim(LEADING FROM email) AS e, trim(TRAILING 'ab' FROM name) AS f, btrim(name) AS g, btrim(email, 'x') AS h, trim('x' FROM email) AS i FROM customers

-- query: substring_substr_left_right_substring_in
SELECT substring(name, 1, 3) AS a, substr(email FROM 2) AS b, substring(email FROM 2 FOR 3) AS c, left(name, 2) AS d, right(email, 2) AS e, substring(photo, 1, 2) AS f, substring_index(email, '@', 1) AS g, substr('hello', -3) AS h, left(photo, 2) AS i FROM customers CROSS JOIN products

-- query: lpad_rpad_repeat_space_reverse_ascii_chr
SELECT lpad(name, 10) AS a, rpad(email, 10, '*') AS b, lpad(photo, 4, X'00') AS c, repeat(name, 2) AS d, space(5) AS e, reverse(name) AS f, ascii(name) AS g, chr(65) AS h, char(66) AS i, soundex(name) AS j FROM customers CROSS JOIN products

-- query: concat_concat_ws
SELECT concat(name, '-', email) AS a, name || email AS b, concat_ws(',', name, email, tags) AS c, concat_ws('-') AS d, 'a' || 1 || true AS e, concat(1, 2) AS f, concat() AS g, concat(photo, X'01') AS h, concat_ws(NULL, 'a') AS i FROM customers CROSS JOIN products

-- query: replace_translate_overlay_split_split_pa
SELECT replace(name, 'a', 'b') AS a, replace(email, 'a') AS b, translate(name, 'abc', 'xyz') AS c, overlay(name PLACING 'x' FROM 2) AS d, overlay(email PLACING 'x' FROM 2 FOR 1) AS e, overlay(name, 'z', 1, 2) AS f, split(name, ',') AS g, split(email, '@', 2) AS h, split_part(name, '-', 1) AS i FROM customers

-- query: contains_startswith_endswith_regexp_rege
SELECT contains(name, 'a') AS a, startswith(email, 'x') AS b, endswith(name, 'z') AS c, contains(photo, X'00') AS d, name LIKE 'a%' AS e, email ILIKE '%B%' AS f, name RLIKE '^a' AS g, regexp(email, 'x') AS h, regexp_like(name, 'y') AS i, name NOT LIKE '_x' ESCAPE '/' AS j FROM customers CROSS JOIN products

-- query: plain_4
SELECT name LIKE ANY ('a%', 'b%') AS a, email LIKE ALL ('a%', NULL) AS b, name NOT LIKE SOME ('x', 'y') AS c, email ILIKE ANY ('A%') AS d, name NOT ILIKE ALL ('q%', 'r%') AS e FROM customers

-- query: regexp_extract_regexp_extract_all_regexp
SELECT regexp_extract(name, '(a)(b)', 1) AS a, regexp_extract_all(email, '(a)', 1) AS b, regexp_replace(name, 'a', 'b') AS c, regexp_replace(email, 'a', 'b', 2) AS d, regexp_count(name, 'x') AS e, regexp_substr(name, 'x') AS f, regexp_instr(email, 'y') AS g, regexp_extract_all('abc', '[a-z]') AS h FROM customers

-- query: encode_decode_hex_unhex_hash_sha
SELECT encode(name, 'utf-8') AS a, decode(photo, 'utf-8') AS b, base64(photo) AS c, unbase64(name) AS d, hex(name) AS e, hex(17) AS f, unhex('FF') AS g, hex(photo) AS h, md5(name) AS i, sha1(name) AS j, sha2(name, 256) AS k, crc32(email) AS l, hash(name, 1) AS m, xxhash64(email) AS n, sha(photo) AS o FROM customers CROSS JOIN products

-- query: format_string_printf_format_number_to_ch
SELECT format_string('%s-%d', name, customer_id) AS a, printf('%05d', 3) AS b, format_number(1234.5, 2) AS c, format_number(credit_limit, '#,###.00') AS d, to_char(credit_limit, '999.99') AS e, to_varchar(1, '9') AS f, to_number('1.5', '9.9') AS g, try_to_number(name, '999') AS h, conv('ff', 16, 10) AS i, to_char(birth_date, 'yyyy') AS j FROM customers

-- query: decode_elt_nullif_nvl_coalesce_ifnull
SELECT decode(status, 'a', 1, 'b', 2, 0) AS a, decode(status, 'a', 'x') AS b, decode(quantity, 1, 'one', 2, NULL, 'many') AS c, elt(1, 'a', status) AS d, elt(quantity, status, note) AS e, nullif(status, 'x') AS f, nvl(note, 'none') AS g, nvl2(note, 1, 2) AS h, coalesce(note, status, '') AS i, ifnull(status, note) AS j FROM orders

-- query: sentences_str_to_map_parse_url_try_parse
SELECT sentences('Hi there. Bye.') AS a, sentences(name, 'en', 'US') AS b, str_to_map('a:1,b:2') AS c, str_to_map(email, ';', '=') AS d, parse_url(email, 'HOST') AS e, try_parse_url(email, 'QUERY', 'k') AS f, url_encode(name) AS g, url_decode('a%20b') AS h, try_url_decode(email) AS i FROM customers

-- query: luhn_check_mask_randstr_quote_uniform
SELECT is_valid_utf8(name) AS a, make_valid_utf8(email) AS b, validate_utf8(name) AS c, try_validate_utf8(name) AS d, luhn_check('123') AS e, mask(name) AS f, mask(email, 'X', 'x', 'n', NULL) AS g, randstr(5) IS NOT NULL AS h, quote(name) AS i, uniform(1, 10) > 0 AS j FROM customers

-- query: collate_collation_upper_concat
SELECT collate(name, 'UTF8_LCASE') AS a, name COLLATE UNICODE_CI AS b, collation(name) AS c, upper(name COLLATE UTF8_LCASE) AS d, concat(name COLLATE UNICODE, 'x') AS e, name COLLATE UTF8_LCASE = 'ABC' AS f FROM customers

-- query: to_binary_try_to_binary_aes_encrypt_aes
SELECT to_binary('abc', 'utf-8') AS a, to_binary('FF') AS b, try_to_binary(name, 'base64') AS c, aes_encrypt(name, '1234567890abcdef') AS d, aes_decrypt(photo, '1234567890abcdef') AS e, try_aes_decrypt(photo, 'k') AS f, bin(13) AS g, zeroifnull(stock) AS h, nullifzero(product_id) AS i FROM customers CROSS JOIN products

-- query: length_substring_upper_concat_repeat_rep
SELECT length('x') + length(NULL) AS a, substring('abc', NULL, 1) AS b, upper(NULL) AS c, concat('a', NULL) AS d, NULL || 'x' AS e, repeat('x', NULL) AS f, replace(NULL, 'a', 'b') AS g, trim(NULL) AS h, concat_ws(',', NULL, 'b') AS i

-- query: upper_length_concat_current_date_trim_lo
SELECT upper(1) AS a, length(123) AS b, concat('x', current_date()) AS c, trim(1.5) AS d, lower(true) AS e, substring(12345, 2, 2) AS f, split(1.5, '.') AS g, reverse(12) AS h, lpad(7, 3, 0) AS i, ascii(5) AS j

-- query: listagg_string_agg_array_join_collect_li
SELECT listagg(name) AS a, listagg(email, ', ') AS b, string_agg(DISTINCT country, '|') AS c, listagg(name, ',') WITHIN GROUP (ORDER BY name DESC) AS d, array_join(collect_list(name), ',') AS e, array_join(tags, ',', 'x') AS f FROM customers GROUP BY tags

-- query: char_length
SELECT char_length(status) BETWEEN 1 AND 3 AS a, status IN ('a', 'b', note) AS b, status NOT IN ('x') AS c, status BETWEEN 'a' AND note AS d, status <=> note AS e, status IS NOT DISTINCT FROM 'x' AS f, NOT status = note AS g, status > 5 AS h, quantity = '5' AS i FROM orders

-- query: row_number_rank_dense_rank_percent_rank
SELECT row_number() OVER (PARTITION BY customer_id ORDER BY ordered_at) AS a, rank() OVER (ORDER BY amount) AS b, dense_rank() OVER (ORDER BY amount DESC NULLS LAST) AS c, percent_rank() OVER (ORDER BY amount) AS d, cume_dist() OVER (ORDER BY amount) AS e, ntile(4) OVER (ORDER BY amount) AS f FROM orders

-- query: lag_lead
SELECT lag(amount) OVER (ORDER BY order_id) AS a, lag(amount, 2) OVER (ORDER BY order_id) AS b, lag(amount, 1, 0) OVER (ORDER BY order_id) AS c, lead(status) OVER (ORDER BY order_id) AS d, lead(quantity, 1, -1) OVER (ORDER BY order_id) AS e, lag(status) IGNORE NULLS OVER (ORDER BY order_id) AS f, lead(order_date, 1, order_date) OVER (PARTITION BY status ORDER BY order_date) AS g FROM orders

-- query: sum_avg_count_max_min
SELECT sum(amount) OVER (ORDER BY order_date ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS a, sum(amount) OVER (ORDER BY order_date ROWS 6 PRECEDING) AS b, avg(quantity) OVER (ORDER BY order_date RANGE BETWEEN INTERVAL 7 DAYS PRECEDING AND CURRENT ROW) AS c, count(*) OVER (ORDER BY quantity RANGE BETWEEN 1 PRECEDING AND 1 FOLLOWING) AS d, max(amount) OVER (PARTITION BY status ORDER BY order_id ROWS BETWEEN 1 FOLLOWING AND UNBOUNDED FOLLOWING) AS e, min(amount) OVER (ORDER BY ordered_at RANGE BETWEEN INTERVAL '1' HOUR PRECEDING AND INTERVAL '1' HOUR FOLLOWING) AS f FROM orders

-- query: first_value_last_value_nth_value_any_val
SELECT first_value(amount) OVER w AS a, last_value(status) OVER w AS b, nth_value(quantity, 2) OVER w AS c, first_value(note) IGNORE NULLS OVER w AS d, any_value(status) OVER w AS e, first(amount, true) OVER (w) AS f FROM orders WINDOW w AS (PARTITION BY customer_id ORDER BY ordered_at)

-- query: sum
SELECT sum(amount) OVER w AS a FROM orders WINDOW w AS (ORDER BY amount RANGE BETWEEN 10.5 PRECEDING AND 1 FOLLOWING)

-- query: collect_list_collect_set_stddev_percenti
SELECT collect_list(status) OVER (PARTITION BY customer_id) AS a, collect_set(quantity) OVER (ORDER BY order_id) AS b, stddev(amount) OVER (PARTITION BY status) AS c, percentile_approx(amount, 0.5) OVER (PARTITION BY status) AS d, approx_count_distinct(status) OVER () AS e, max_by(status, amount) OVER (PARTITION BY customer_id) AS f, median(quantity) OVER (PARTITION BY status) AS g, count_if(is_paid) OVER (ORDER BY order_id) AS h FROM orders

-- query: gap_changed
SELECT amount - lag(amount) OVER (PARTITION BY customer_id ORDER BY ordered_at) AS delta, datediff(order_date, lag(order_date) OVER (PARTITION BY customer_id ORDER BY order_date)) AS gap, CASE WHEN lag(status) OVER (ORDER BY order_id) = status THEN 0 ELSE 1 END AS changed FROM orders

-- query: row_number
SELECT row_number() OVER (ORDER BY (SELECT 1)) AS a FROM orders

-- query: nth_value_lead_lag_array
SELECT nth_value(status, 1) IGNORE NULLS OVER (ORDER BY order_id ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING) AS a, lead(order_id) OVER (PARTITION BY status ORDER BY ordered_at, order_id) AS b, lag(address, 1) OVER (ORDER BY name) AS c, lag(array(1), 1, array(2)) OVER (ORDER BY name) AS d FROM orders CROSS JOIN customers

-- query: row_number_2
SELECT * FROM (SELECT *, row_number() OVER (PARTITION BY status ORDER BY amount DESC) AS rk FROM orders) WHERE rk <= 3

-- query: customer_id_2
SELECT customer_id, sum(amount) AS s, lag(sum(amount)) OVER (ORDER BY customer_id) AS p, avg(count(*)) OVER (ORDER BY customer_id ROWS 2 PRECEDING) AS q FROM orders GROUP BY customer_id

-- query: sum_avg_max_rank
SELECT sum(lead_time) OVER (ORDER BY product_id) AS a, avg(warranty) OVER () AS b, max(price) OVER (PARTITION BY category) - price AS c, price / sum(price) OVER (PARTITION BY category) AS d, rank() OVER (PARTITION BY category ORDER BY price DESC, sku) AS e FROM products

-- query: lag_last_value_listagg_mode_regr_slope
SELECT lag(amount, 1) RESPECT NULLS OVER (ORDER BY order_id) AS a, last_value(note, true) OVER (ORDER BY order_id) AS b, listagg(status, ',') OVER (PARTITION BY customer_id) AS c, mode(status) OVER (PARTITION BY customer_id) AS d, regr_slope(tax, weight) OVER () AS e FROM orders
