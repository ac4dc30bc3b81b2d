with base as (
    select * from {{ ref('stg_ticket_tmp') }}
),

fields as (
    select
        {{ desk_utils.fill_columns(ticket_columns(), adapter.get_columns_in_relation(ref('stg_ticket_tmp'))) }}
    from base
)

select
    id as ticket_id,
    subject,
    opened_at,
    closed_at,
    channel
from fields
