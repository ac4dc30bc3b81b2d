with periods as (
    select * from {{ ref('membership_periods') }}
),

months as (
    select * from {{ ref('months') }}
),

-- the first and the last month that a member was there
members as (
    select
        member_id,
        cast(date_trunc('month', min(starts_on)) as date) as first_month,
        cast(date_trunc('month', max(ends_on)) as date) as last_month
    from periods
    group by 1
),

filled as (
    select
        members.member_id,
        months.month,
        members.first_month,
        members.last_month
    from members
    join months on months.month between members.first_month and members.last_month
)

select
    filled.member_id,
    filled.month,
    coalesce(periods.monthly_fee, 0) as fee,
    filled.month = filled.first_month as is_first_month,
    filled.month = filled.last_month as is_last_month
from filled
left join periods
    on periods.member_id = filled.member_id
    and filled.month >= cast(date_trunc('month', periods.starts_on) as date)
    and filled.month < periods.ends_on
