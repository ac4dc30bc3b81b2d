with ticket as (
    select * from {{ ref('stg_ticket') }}
){% if var('desk__using_labels', true) %},

labels as (
    select * from {{ ref('labels_by_ticket') }}
){% endif %}

select
    ticket.ticket_id,
    ticket.subject,
    {{ desk_utils.hours_between('ticket.opened_at', 'ticket.closed_at') }} as hours_open
    {%- if var('desk__using_labels', true) %},
    labels.labels
    {%- endif %}
from ticket
{% if var('desk__using_labels', true) -%}
left join labels on labels.ticket_id = ticket.ticket_id
{%- endif %}
