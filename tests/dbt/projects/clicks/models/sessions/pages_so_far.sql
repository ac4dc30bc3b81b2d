{{ config(materialized='incremental', file_format='parquet') }}
select page, happened_on, count(*) as views
from {{ ref('events') }}
{% if is_incremental() %}
where happened_on > (select max(happened_on) from {{ this }})
{% endif %}
group by page, happened_on
