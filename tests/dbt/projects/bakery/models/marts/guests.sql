{{ config(
    tags=['core', 'nightly'],
    meta={'reviewed': true}
) }}
with orders as (
    select * from {{ ref('orders') }}
),
per_guest as (
    select
        guest_id,
        min(ordered_on) as first_order,
        count(*) as number_of_orders,
        sum(amount) as lifetime_value
    from orders
    group by guest_id
)
select
    g.guest_id,
    g.first_name,
    g.last_name,
    p.first_order,
    coalesce(p.number_of_orders, 0) as number_of_orders,
    p.lifetime_value
from {{ ref('stg_guests') }} g
left join per_guest p on p.guest_id = g.guest_id
