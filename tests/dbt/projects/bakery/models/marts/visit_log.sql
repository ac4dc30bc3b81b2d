{{ config(materialized='incremental', incremental_strategy='append', file_format='parquet') }}

select visit_id, guest_id, came_at
from {{ ref('stg_visits') }}
{% if is_incremental() %}
where came_at > (select max(came_at) from {{ this }})
{% endif %}
