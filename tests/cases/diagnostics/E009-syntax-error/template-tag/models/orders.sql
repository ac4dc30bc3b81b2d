SELECT order_id
-- expect: E009
FROM {{ this }}
