-- query: json_paths
SELECT get_json_object(payload, '$.a') AS a, get_json_object(event_id, '$.b[0]') AS b, json_array_length(payload) AS c, json_object_keys(payload) AS d, schema_of_json('{"a": 1}') AS e FROM events

-- query: from_json
SELECT from_json(payload, 'a INT, b STRING') AS a, from_json(event_id, 'STRUCT<x: DOUBLE, y: ARRAY<INT>>') AS b, from_json(payload, 'ARRAY<STRING>') AS c, from_json(payload, 'MAP<STRING, INT>') AS d, from_json(payload, 'a INT', map('mode', 'FAILFAST')) AS e, from_json('{"a":1}', 'a INT').a AS f, from_json(payload, schema_of_json('{"a":1,"b":[1.5]}')) AS g FROM events

-- query: to_json
SELECT to_json(struct(event_id, items)) AS a, to_json(properties) AS b, to_json(items) AS c, to_json(named_struct('a', 1), map('x', 'y')) AS d, to_json(body) AS e FROM events

-- query: csv
SELECT from_csv(payload, 'a INT, b STRING') AS a, to_csv(struct(event_id, at)) AS b, schema_of_csv('1,abc') AS c, from_csv('1', 'a INT', map('sep', ';')) AS d FROM events

-- query: xml
SELECT from_xml(payload, 'a INT, b STRING') AS a, to_xml(struct(1 AS a)) AS b, schema_of_xml('<p><a>1</a></p>') AS c, xpath(payload, 'a/b') AS d, xpath_string(payload, 'a') AS e, xpath_int(payload, 'a') AS f, xpath_boolean(event_id, 'a') AS g, xpath_double(payload, 'a') AS h, xpath_long(payload, 'a') AS j, xpath_number(payload, 'a') AS k, xpath_float(payload, 'a') AS m, xpath_short(payload, 'a') AS n FROM events

-- query: variant_building
SELECT parse_json(payload) AS a, try_parse_json(payload) AS b, parse_json('{"a":1}') AS c, to_variant_object(struct(1 AS a)) AS d, to_variant_object(properties) AS e, CAST(1 AS VARIANT) AS f FROM events

-- query: variant_reading
SELECT variant_get(body, '$.a', 'int') AS a, try_variant_get(body, '$.a', 'date') AS b, variant_get(body, '$.b') AS c, body:a AS d, body:a.b::string AS e, body:items[0].price::decimal(10,2) AS f, is_variant_null(body) AS g, schema_of_variant(body) AS h, variant_get(body, '$.c', 'array<string>') AS j FROM events

-- query: variant_aggregates
SELECT schema_of_variant_agg(body) AS a, count(body) AS b, max(body:a::int) AS c FROM events

-- query: json_tuple_lateral
SELECT event_id, t.* FROM events LATERAL VIEW json_tuple(payload, 'x', 'y') t AS x, y

-- query: json_round_trip
SELECT from_json(to_json(struct(event_id, at)), 'event_id STRING, at TIMESTAMP').event_id AS a, get_json_object(to_json(properties), '$.k') AS b FROM events

-- query: from_json_nested
SELECT from_json(payload, 'a STRUCT<b: ARRAY<STRUCT<c: INT>>>').a.b[0].c AS c, from_json(payload, 'a STRUCT<b: ARRAY<STRUCT<c: INT>>>').a.b.c AS cs, inline(from_json(payload, 'ARRAY<STRUCT<k: STRING, v: INT>>')) FROM events

-- query: variant_paths
SELECT body:['key with space'] AS a, body:a[0] AS b, body:a.b.c AS c FROM events

-- query: avro_like_options
SELECT from_json(payload, 'a DATE', map('dateFormat', 'yyyy')).a AS a, to_csv(struct(1, 2), map('sep', '|')) AS b FROM events

-- query: typeof_everything
SELECT typeof(body) AS a, typeof(items) AS b, typeof(NULL) AS c, typeof(session_length) AS d FROM events

-- query: bad_path_of_variant
SELECT variant_get(body, 'a', 'int') FROM events
