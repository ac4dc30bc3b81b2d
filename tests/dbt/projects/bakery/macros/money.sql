{# Whole euros of a column of cents. #}
{% macro euros(column, places=2) -%}
round({{ column }} / 100, {{ places }})
{%- endmacro %}

{% test never_negative(model, column_name) %}
select *
from {{ model }}
where {{ column_name }} < 0
{% endtest %}
