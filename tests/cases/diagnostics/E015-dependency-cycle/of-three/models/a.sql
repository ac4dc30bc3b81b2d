-- expect: E015
SELECT order_id FROM c
