{{ config(
    materialized='incremental',
    incremental_strategy='insert_overwrite',
    partition_by='happened_on',
    file_format='parquet'
) }}
select page, count(*) as views, happened_on
from {{ ref('events') }}
{% if is_incremental() %}
where happened_on >= date_sub(current_date, 2)
{% endif %}
group by page, happened_on
