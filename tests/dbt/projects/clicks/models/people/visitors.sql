{{ config(post_hook="analyze table {{ this }} compute statistics") }}
select visitor, min(happened_at) as first_seen, count(distinct site) as sites
from {{ ref('events') }}
group by visitor
