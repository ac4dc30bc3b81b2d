select
    *,
    sum(is_start) over (partition by visitor order by happened_at) as session_number
from (
    select
        *,
        case
            when happened_at <= lag(happened_at) over (partition by visitor order by happened_at)
                + interval {{ var('quiet_minutes') }} minutes then 0
            else 1
        end as is_start
    from {{ ref('recent_events') }}
) marked
