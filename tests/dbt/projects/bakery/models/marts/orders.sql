{#- one row for each order -#}
select
    o.order_id,
    o.guest_id,
    o.ordered_on,
    o.state,
    {% for way in var('ways_to_pay') -%}
    p.{{ way }}_amount,
    {% endfor -%}
    coalesce(p.total_amount, 0) as amount
from {{ ref('stg_orders') }} o
left join {{ ref('payments_by_order') }} p using (order_id)
