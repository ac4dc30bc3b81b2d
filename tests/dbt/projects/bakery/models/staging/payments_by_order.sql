{{ config(materialized='ephemeral') }}
select
    order_id,
    {% for way in var('ways_to_pay') -%}
    sum(case when way = '{{ way }}' then amount else 0 end) as {{ way }}_amount,
    {% endfor -%}
    sum(amount) as total_amount
from {{ ref('stg_payments') }}
group by order_id
