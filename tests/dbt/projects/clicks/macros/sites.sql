{% macro known_sites(column='site') -%}
{%- set sites = var('site_ids', []) -%}
{%- if sites | length -%}
{{ column }} in ({% for each in sites %}'{{ each }}'{{ ', ' if not loop.last }}{% endfor %})
{%- else -%}
true
{%- endif -%}
{%- endmacro %}
