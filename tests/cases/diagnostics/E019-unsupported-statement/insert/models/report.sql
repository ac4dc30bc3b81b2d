-- expect: E019
INSERT INTO archive SELECT order_id FROM raw.orders
