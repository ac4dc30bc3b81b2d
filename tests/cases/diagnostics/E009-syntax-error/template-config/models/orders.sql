-- expect: E009
{{ config(materialized='view') }}
SELECT order_id
FROM raw.orders
