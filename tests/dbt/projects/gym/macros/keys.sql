{% macro row_key(columns) -%}
md5(concat_ws('-', {% for each in columns %}coalesce(cast({{ each }} as string), ''){% if not loop.last %}, {% endif %}{% endfor %}))
{%- endmacro %}
