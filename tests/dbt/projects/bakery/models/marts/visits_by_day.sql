{{ config(
    materialized='incremental',
    incremental_strategy='insert_overwrite',
    partition_by=['came_on'],
    file_format='parquet'
) }}

select count(*) as visits, came_on
from {{ ref('stg_visits') }}
{% if is_incremental() %}
where came_on >= (select max(came_on) from {{ this }})
{% endif %}
group by came_on
