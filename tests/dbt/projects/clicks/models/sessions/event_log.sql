{{ config(materialized='incremental', file_format='parquet') }}
select event_id, visitor, site, happened_at
from {{ ref('events') }} e
{% if is_incremental() %}
where e.happened_at > (select coalesce(max(happened_at), timestamp '1970-01-01 00:00:00') from {{ this }})
{% endif %}
