-- query: case_and_trim
SELECT upper(name) AS a, lower(email) AS b, initcap(name) AS c, trim(name) AS d, ltrim(email) AS e, rtrim(name) AS f, btrim(name) AS g, btrim(name, 'x') AS h, trim(BOTH 'x' FROM name) AS j, trim(LEADING FROM email) AS k, trim(TRAILING 'y' FROM name) AS m, ucase(name) AS n, lcase(email) AS o FROM customers

-- query: lengths
SELECT length(name) AS a, char_length(email) AS b, character_length(name) AS c, octet_length(name) AS d, bit_length(email) AS e, len(name) AS f FROM customers

-- query: pieces
SELECT substring(name, 1, 3) AS a, substr(email, 2) AS b, substring(name FROM 2 FOR 3) AS c, left(name, 2) AS d, right(email, 2) AS e, split_part(email, '@', 2) AS f, substring_index(email, '.', 1) AS g, substr(name FROM 2) AS h FROM customers

-- query: searching
SELECT instr(name, 'a') AS a, locate('a', email) AS b, locate('a', name, 2) AS c, position('a' IN name) AS d, position('a', name, 1) AS e, contains(name, 'a') AS g, startswith(email, 'a') AS h, endswith(name, 'z') AS j, find_in_set('a', name) AS k FROM customers

-- query: replacing
SELECT replace(name, 'a', 'b') AS a, replace(email, 'a') AS b, translate(name, 'abc', 'xyz') AS c, overlay(name PLACING 'x' FROM 2) AS d, overlay(name PLACING 'x' FROM 2 FOR 1) AS e, overlay(name, 'x', 2, 1) AS f, regexp_replace(name, 'a+', 'b') AS g, regexp_replace(email, 'a', 'b', 2) AS h FROM customers

-- query: padding
SELECT lpad(name, 10, '0') AS a, rpad(email, 10) AS b, repeat(name, 2) AS c, space(3) AS d, reverse(name) AS e, lpad(name, 5) AS f, lpad(X'01', 3, X'00') AS g FROM customers

-- query: joining
SELECT concat(name, '-', email) AS a, concat(name, 'x') AS b, concat_ws(',', name, email) AS c, concat_ws(',', tags) AS d, concat_ws(',', name, tags) AS e, concat() AS f, format_string('%s-%d', name, 1) AS g, printf('%s', email) AS h, elt(2, name, email) AS k FROM customers

-- query: splitting
SELECT split(name, ',') AS a, split(email, '@', 2) AS b, sentences(name) AS c, split(name, ',')[0] AS d, size(split(email, 'x')) AS e, string(split(name, ',')) AS f FROM customers

-- query: regular_expressions
SELECT regexp_extract(name, '(a)(b)', 1) AS a, regexp_extract(email, 'a') AS b, regexp_extract_all(name, '(a)') AS c, regexp_like(name, 'a') AS d, regexp_count(email, 'a') AS e, regexp_substr(name, 'a') AS f, regexp_instr(name, 'a') AS g, rlike(name, 'x') AS h, regexp(email, 'x') AS j FROM customers

-- query: codes
SELECT ascii(name) AS a, chr(65) AS b, char(66) AS c, unicode_normalised AS d FROM (SELECT name, name AS unicode_normalised FROM customers)

-- query: encodings
SELECT base64(photo) AS a, unbase64(sku) AS b, hex(photo) AS c, hex(product_id) AS d, unhex(sku) AS e, encode(sku, 'UTF-8') AS f, decode(photo, 'UTF-8') AS g, to_binary(sku) AS h, to_binary(title, 'hex') AS j, try_to_binary(sku, 'hex') AS k FROM products

-- query: hashes
SELECT md5(sku) AS a, sha1(title) AS b, sha2(sku, 256) AS c, crc32(photo) AS d, hash(sku, title) AS e, xxhash64(sku, 1) AS f, sha(title) AS g, hash(photo) AS h FROM products

-- query: distance_and_sound
SELECT levenshtein(name, email) AS a, levenshtein(name, 'x', 3) AS b, soundex(name) AS c FROM customers

-- query: masks
SELECT mask(name) AS a, mask(email, 'X') AS b, mask(name, 'X', 'x', 'd', NULL) AS c, luhn_check(name) AS d FROM customers

-- query: utf8
SELECT is_valid_utf8(name) AS a, make_valid_utf8(email) AS b, validate_utf8(name) AS c, try_validate_utf8(name) AS d, quote(name) AS e FROM customers

-- query: formatting_numbers
SELECT format_number(amount, 2) AS a, format_number(tax, '#.##') AS b, to_char(amount, '999.99') AS c, to_varchar(quantity, '999') AS d, to_number(status, '999.99') AS e, try_to_number(status, '99') AS f, to_char(order_date, 'yyyy') AS g, to_number('454', '999') AS h FROM orders

-- query: urls
SELECT parse_url(note, 'HOST') AS a, parse_url(note, 'QUERY', 'q') AS b, url_encode(note) AS c, url_decode(note) AS d, try_url_decode(status) AS e, try_parse_url(note, 'HOST') AS f FROM orders

-- query: collation_functions
SELECT collation(name) AS a, collate(name, 'UTF8_LCASE') AS b, upper(collate(name, 'UTF8_LCASE')) AS c, name COLLATE UNICODE = 'x' AS d FROM customers

-- query: coerced_arguments
SELECT upper(customer_id) AS a, length(birth_date) AS b, concat(name, customer_id, birth_date) AS c, substring(customer_id, 1, 2) AS d, lpad(customer_id, 10, '0') AS e, repeat('x', '3') AS f, concat_ws('-', customer_id, credit_limit) AS g FROM customers

-- query: null_arguments
SELECT upper(NULL) AS a, concat('a', NULL) AS b, length(NULL) AS c, substring(NULL, 1, 2) AS d, concat_ws(NULL, 'a') AS e, coalesce(trim(NULL), 'x') AS f

-- query: binary_strings
SELECT length(photo) AS a, substring(photo, 1, 2) AS b, concat(photo, photo) AS c, left(photo, 1) AS d, photo = 'x' AS e, string(photo) AS f, reverse(string(photo)) AS g, startswith(photo, X'01') AS h FROM products

-- query: random_text
SELECT uuid() AS a, randstr(5) AS b, randstr(10, 0) AS c

-- query: compress
SELECT zeroifnull(length(name)) AS a, nullif(trim(email), '') AS b, coalesce(nullif(name, ''), 'none') AS c FROM customers

-- query: sqlish
SELECT typeof(name) AS a, version() AS b, assert_true(true) AS c, raise_error('x') AS d, input_file_name() AS e, monotonically_increasing_id() AS f, spark_partition_id() AS g, input_file_block_start() AS h FROM customers

-- query: aes
SELECT aes_encrypt(name, '0000111122223333') AS a, aes_decrypt(aes_encrypt(email, '0000111122223333'), '0000111122223333') AS b, try_aes_decrypt(X'00', '0000111122223333') AS c FROM customers
