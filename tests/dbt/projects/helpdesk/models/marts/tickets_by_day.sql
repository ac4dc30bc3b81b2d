select {{ dbt.date_trunc('day', 'opened_at') }} as day, count(*) as opened
from {{ ref('stg_ticket') }}
group by 1
