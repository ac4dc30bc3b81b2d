-- table: orders
order_id BIGINT NOT NULL,
customer_id BIGINT NOT NULL,
status STRING,
amount DECIMAL(18,2) NOT NULL,
discount DECIMAL(5,4),
tax DOUBLE,
quantity INT NOT NULL,
priority TINYINT,
region_code SMALLINT,
ordered_at TIMESTAMP NOT NULL,
shipped_at TIMESTAMP,
order_date DATE NOT NULL,
due_date DATE,
is_gift BOOLEAN NOT NULL,
is_paid BOOLEAN,
note STRING,
weight FLOAT

-- table: order_lines
order_id BIGINT NOT NULL,
line_no INT NOT NULL,
product_id INT,
quantity INT NOT NULL,
unit_price DECIMAL(10,2) NOT NULL,
discount_pct DECIMAL(3,2),
options MAP<STRING, ARRAY<INT>>

-- table: customers
customer_id BIGINT NOT NULL,
name STRING NOT NULL,
email STRING,
country STRING,
signup_date DATE,
birth_date DATE NOT NULL,
credit_limit DECIMAL(10,2),
loyalty STRUCT<tier: STRING NOT NULL, points: INT, since: DATE>,
address STRUCT<street: STRING, city: STRING NOT NULL, geo: STRUCT<lat: DOUBLE NOT NULL, lon: DOUBLE NOT NULL>> NOT NULL,
tags ARRAY<STRING>,
referrer_id BIGINT

-- table: products
product_id INT NOT NULL,
sku STRING NOT NULL,
title STRING,
price DECIMAL(10,2) NOT NULL,
cost DECIMAL(12,4),
category STRING,
attributes MAP<STRING, STRING>,
sizes ARRAY<INT> NOT NULL,
photo BINARY,
rating DOUBLE,
stock BIGINT,
discontinued BOOLEAN,
warranty INTERVAL YEAR TO MONTH,
lead_time INTERVAL DAY TO SECOND NOT NULL

-- table: events
event_id STRING NOT NULL,
customer_id BIGINT,
event_type STRING NOT NULL,
at TIMESTAMP_NTZ NOT NULL,
received TIMESTAMP,
payload STRING,
body VARIANT,
properties MAP<STRING, STRUCT<value: STRING, weight: DOUBLE>>,
items ARRAY<STRUCT<product_id: INT NOT NULL, qty: INT, price: DECIMAL(10,2)>> NOT NULL,
scores ARRAY<DOUBLE>,
session_length INTERVAL DAY TO SECOND,
matrix ARRAY<ARRAY<INT>>

-- table: calendar
day DATE NOT NULL,
week INT NOT NULL,
month INT,
quarter TINYINT,
is_holiday BOOLEAN NOT NULL,
label STRING

-- table: staff
employee_id INT NOT NULL,
manager_id INT,
name STRING NOT NULL,
salary DECIMAL(9,2),
hired DATE,
department STRING NOT NULL

-- table: numbers
b TINYINT,
s SMALLINT NOT NULL,
i INT NOT NULL,
ni INT,
l BIGINT NOT NULL,
nl BIGINT,
f FLOAT,
d DOUBLE NOT NULL,
nd DOUBLE,
d5 DECIMAL(5,2) NOT NULL,
d10 DECIMAL(10,0),
d20 DECIMAL(20,4) NOT NULL,
d38 DECIMAL(38,18),
d380 DECIMAL(38,0) NOT NULL

-- table: legacy
`Id` INT NOT NULL,
`Full Name` STRING,
`select` STRING NOT NULL,
`a.b` INT,
`Größe` DOUBLE,
`UPPER` STRING,
nested STRUCT<`Odd Name`: INT NOT NULL, `x.y`: STRING>

-- table: quarterly_sales
region STRING NOT NULL,
product STRING,
q1 DECIMAL(12,2),
q2 DECIMAL(12,2) NOT NULL,
q3 INT,
q4 BIGINT NOT NULL
