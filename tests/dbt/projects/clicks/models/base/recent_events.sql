select *
from {{ ref('events') }}
{% if target.name == 'ci' %}
where happened_on >= current_date - 3
{% endif %}
