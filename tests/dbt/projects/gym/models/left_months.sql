with member_months as (
    select * from {{ ref('member_months') }}
)

select
    member_id,
    add_months(month, 1) as month,
    cast(0 as double) as fee,
    false as is_first_month,
    false as is_last_month
from member_months
where is_last_month
