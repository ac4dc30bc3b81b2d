{%- set found = adapter.get_columns_in_relation(source('till', 'visits')) -%}
select {% for each in found %}{{ each.name }}{% if not loop.last %}, {% endif %}{% endfor %}
from {{ source('till', 'visits') }}
