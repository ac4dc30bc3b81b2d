{{ config(
    materialized='incremental',
    incremental_strategy='merge',
    unique_key='session_id',
    file_format='delta'
) }}
select
    concat(visitor, '-', session_number) as session_id,
    visitor,
    min(happened_at) as started_at,
    max(happened_at) as ended_at,
    count(*) as events
from {{ ref('numbered_events') }}
{% if is_incremental() %}
where happened_at >= (select max(ended_at) - interval 3 days from {{ this }})
{% endif %}
group by visitor, session_number
