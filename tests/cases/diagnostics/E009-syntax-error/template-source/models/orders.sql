SELECT order_id
-- expect: E009
FROM {{ source("raw", "orders") }}
