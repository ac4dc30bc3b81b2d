with unioned as (
    select * from {{ ref('member_months') }}
    union all
    select * from {{ ref('left_months') }}
),

compared as (
    select
        *,
        coalesce(lag(fee) over (partition by member_id order by month), 0) as fee_before
    from unioned
)

select
    {{ row_key(['member_id', 'month']) }} as fee_id,
    member_id,
    month,
    fee,
    fee - fee_before as change,
    case
        when is_first_month then 'new'
        when fee = 0 and fee_before > 0 then 'left'
        when fee > fee_before and fee_before = 0 then 'back'
        {% for word, sign in [('more', '>'), ('less', '<')] -%}
        when fee {{ sign }} fee_before then '{{ word }}'
        {% endfor -%}
    end as kind
from compared
