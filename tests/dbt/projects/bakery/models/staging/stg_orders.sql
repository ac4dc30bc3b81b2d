{{ config(alias='orders_clean') }}

select
    order_id,
    guest as guest_id,
    ordered_on,
    state
from {{ ref('raw_orders') }}
where ordered_on >= date '{{ var("first_day") }}'
