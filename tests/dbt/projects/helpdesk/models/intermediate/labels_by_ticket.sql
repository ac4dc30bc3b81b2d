{{ config(enabled=var('desk__using_labels', true)) }}
select ticket_id, {{ desk_utils.joined_texts('label', "', '") }} as labels
from {{ ref('stg_label') }}
group by ticket_id
