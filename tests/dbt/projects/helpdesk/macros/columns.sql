{% macro ticket_columns() %}
{{ return([
    {'name': 'id', 'type': 'bigint'},
    {'name': 'subject', 'type': 'string'},
    {'name': 'opened_at', 'type': 'timestamp'},
    {'name': 'closed_at', 'type': 'timestamp'},
    {'name': 'channel', 'type': 'string'}
]) }}
{% endmacro %}
