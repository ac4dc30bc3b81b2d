-- query: parts
SELECT year(order_date) AS a, quarter(order_date) AS b, month(due_date) AS c, day(order_date) AS d, dayofmonth(order_date) AS e, dayofweek(order_date) AS f, weekday(due_date) AS g, dayofyear(order_date) AS h, weekofyear(order_date) AS j, hour(ordered_at) AS k, minute(shipped_at) AS m, second(ordered_at) AS n FROM orders

-- query: extract
SELECT extract(YEAR FROM order_date) AS a, extract(MONTH FROM ordered_at) AS b, extract(SECOND FROM ordered_at) AS c, extract(DOW FROM due_date) AS d, extract(WEEK FROM order_date) AS e, date_part('HOUR', shipped_at) AS f, date_part('seconds', ordered_at) AS g, datepart('year', order_date) AS h, extract(DAYOFWEEK_ISO FROM order_date) AS j, extract(YEAROFWEEK FROM order_date) AS k FROM orders

-- query: extract_from_intervals
SELECT extract(DAY FROM lead_time) AS a, extract(HOUR FROM lead_time) AS b, extract(SECOND FROM lead_time) AS c, extract(YEAR FROM warranty) AS d, date_part('MONTH', warranty) AS e FROM products

-- query: truncation
SELECT date_trunc('MONTH', ordered_at) AS a, date_trunc('day', order_date) AS b, trunc(order_date, 'MM') AS c, trunc(due_date, 'year') AS d, date_trunc('HOUR', shipped_at) AS e, date_trunc('week', at) AS f, trunc(ordered_at, 'MONTH') AS g FROM orders CROSS JOIN events

-- query: day_arithmetic
SELECT order_date + 1 AS a, order_date - 1 AS b, date_add(order_date, 7) AS c, date_sub(due_date, quantity) AS d, dateadd(order_date, 3) AS e, 1 + order_date AS f, date_add('2024-01-01', 1) AS g, order_date + quantity AS h, order_date + priority AS j FROM orders

-- query: differences
SELECT due_date - order_date AS a, shipped_at - ordered_at AS b, datediff(due_date, order_date) AS c, date_diff(order_date, '2024-01-01') AS d, months_between(due_date, order_date) AS e, months_between(shipped_at, ordered_at, false) AS f, order_date - ordered_at AS g, at - at AS h, ordered_at - order_date AS j FROM orders CROSS JOIN events

-- query: interval_arithmetic
SELECT order_date + INTERVAL 1 DAY AS a, order_date + INTERVAL 1 MONTH AS b, order_date - INTERVAL '1' YEAR AS c, ordered_at + INTERVAL '1' HOUR AS d, shipped_at - INTERVAL 2 WEEKS AS e, order_date + INTERVAL 3 HOURS AS f, at + INTERVAL 1 DAY AS g, INTERVAL 1 DAY + order_date AS h, at - INTERVAL 1 YEAR AS j FROM orders CROSS JOIN events

-- query: interval_columns
SELECT order_date + lead_time AS a, ordered_at + warranty AS b, order_date + warranty AS c, ordered_at - lead_time AS d, lead_time * 2 AS e, lead_time / 3 AS f, warranty * quantity AS g, lead_time + INTERVAL 1 DAY AS h, -lead_time AS j, 2 * lead_time AS k, warranty / 2 AS m, abs(lead_time) AS n, lead_time - lead_time AS o, warranty + INTERVAL 3 MONTHS AS p FROM orders CROSS JOIN products

-- query: interval_widening
SELECT INTERVAL '1' DAY + INTERVAL '1' HOUR AS a, INTERVAL '1' YEAR + INTERVAL '1' MONTH AS b, INTERVAL '1' HOUR - INTERVAL '1' SECOND AS c, coalesce(lead_time, INTERVAL '1' DAY) AS d, greatest(INTERVAL '1' DAY, INTERVAL '5' HOUR) AS e, INTERVAL '1' DAY = INTERVAL '24' HOUR AS f, INTERVAL 1 DAY > lead_time AS g FROM products

-- query: make_values
SELECT make_date(2024, 1, 31) AS a, make_date(year(order_date), 1, 1) AS b, make_timestamp(2024, 1, 31, 12, 0, 0) AS c, make_timestamp_ntz(2024, 1, 31, 12, 0, 0.5) AS d, make_timestamp_ltz(2024, 1, 31, 12, 0, 0, 'UTC') AS e, make_interval(1, 2) AS f, make_dt_interval(1, 2, 3, 4.5) AS g, make_ym_interval(1, 2) AS h, try_make_timestamp(2024, 1, 1, 0, 0, 0) AS j, try_make_interval(1) AS k FROM orders

-- query: parsing
SELECT to_date(note) AS a, to_date(note, 'yyyy-MM-dd') AS b, to_timestamp(note) AS c, to_timestamp(note, 'yyyy') AS d, to_timestamp_ntz(note) AS e, to_timestamp_ltz(note, 'yyyy') AS f, try_to_timestamp(note) AS g, try_to_date(note) AS h, to_date(order_date) AS j, to_timestamp(order_date) AS k, unix_timestamp(note, 'yyyy') AS m, to_unix_timestamp(note) AS n, to_date('2024-01-01') AS o, to_timestamp('2024-01-01', 'yyyy-MM-dd') AS p FROM orders

-- query: formatting
SELECT date_format(ordered_at, 'yyyy-MM') AS a, date_format(order_date, 'E') AS b, from_unixtime(order_id) AS c, from_unixtime(order_id, 'yyyy') AS d, dayname(order_date) AS e, monthname(due_date) AS f FROM orders

-- query: epochs
SELECT unix_timestamp(ordered_at) AS a, unix_seconds(ordered_at) AS b, unix_millis(shipped_at) AS c, unix_micros(ordered_at) AS d, timestamp_seconds(order_id) AS e, timestamp_millis(quantity) AS f, timestamp_micros(order_id) AS g, unix_date(order_date) AS h, date_from_unix_date(quantity) AS j, timestamp_seconds(1.5) AS k, timestamp_seconds(tax) AS m, unix_timestamp() AS n FROM orders

-- query: zones
SELECT from_utc_timestamp(ordered_at, 'Europe/Lisbon') AS a, to_utc_timestamp(shipped_at, 'UTC') AS b, convert_timezone('UTC', 'Europe/Lisbon', at) AS c, convert_timezone('Europe/Lisbon', at) AS d, current_timezone() AS e FROM orders CROSS JOIN events

-- query: calendar_functions
SELECT add_months(order_date, 1) AS a, last_day(due_date) AS b, next_day(order_date, 'MON') AS c, add_months('2024-01-31', quantity) AS d, last_day(ordered_at) AS e, next_day(note, 'TU') AS f FROM orders

-- query: timestamp_units
SELECT timestampadd(HOUR, 2, ordered_at) AS a, timestampdiff(MONTH, ordered_at, shipped_at) AS b, dateadd(MONTH, 1, order_date) AS c, datediff(DAY, ordered_at, shipped_at) AS d, date_add(YEAR, 1, due_date) AS e, date_diff(WEEK, order_date, due_date) AS f, timestampadd(DAY, quantity, at) AS g FROM orders CROSS JOIN events

-- query: sequences
SELECT sequence(order_date, due_date) AS a, sequence(order_date, due_date, INTERVAL 1 MONTH) AS b, sequence(1, 5) AS c, sequence(1L, 10L, 2L) AS d, sequence(ordered_at, shipped_at, INTERVAL 1 HOUR) AS e, sequence(1, quantity) AS f FROM orders

-- query: comparisons
SELECT order_date BETWEEN DATE '2024-01-01' AND DATE '2024-12-31' AS a, ordered_at < current_timestamp() AS b, order_date = '2024-01-01' AS c, due_date > add_months(order_date, 1) AS d, at = '2024-01-01 00:00' AS e FROM orders CROSS JOIN events

-- query: windows_of_time
SELECT window(ordered_at, '10 minutes') AS w FROM orders

-- query: string_dates_in_functions
SELECT year('2024-01-01') AS a, month(note) AS b, datediff('2024-01-01', order_date) AS c, date_trunc('DAY', note) AS d, hour('12:00:00') AS e, last_day('2024-01-01') AS f, date_format('2024-01-01', 'y') AS g FROM orders

-- query: coalesced_timestamps
SELECT coalesce(shipped_at, current_timestamp()) AS a, greatest(order_date, due_date, current_date()) AS b, least(ordered_at, shipped_at) AS c, nullif(order_date, due_date) AS d, if(is_gift, order_date, NULL) AS e FROM orders

-- query: age_calculation
SELECT floor(months_between(current_date(), birth_date) / 12) AS age, datediff(current_date(), signup_date) AS days, year(current_date()) - year(birth_date) AS rough FROM customers

-- query: day_time_casts
SELECT CAST(shipped_at - ordered_at AS STRING) AS a, CAST((shipped_at - ordered_at) AS INTERVAL HOUR) AS b, (unix_timestamp(shipped_at) - unix_timestamp(ordered_at)) / 3600 AS hours, CAST(due_date - order_date AS INT) AS d FROM orders

-- query: ntz
SELECT date_trunc('DAY', at) AS a, CAST(at AS DATE) AS b, at + INTERVAL 1 HOUR AS c, hour(at) AS d, year(at) AS e, at - TIMESTAMP_NTZ '2024-01-01 00:00:00' AS f, date_format(at, 'yyyy') AS g, unix_timestamp(at) AS h, coalesce(at, received) AS j FROM events

-- query: curdate_family
SELECT curdate() AS a, current_date() - INTERVAL 7 DAYS AS b, now() - INTERVAL '1' HOUR AS c, date(now()) AS d, localtimestamp() AS e

-- query: date_add_of_string_days
SELECT date_add(order_date, 'x') FROM orders
