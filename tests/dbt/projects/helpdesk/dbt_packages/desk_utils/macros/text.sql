{% macro joined_texts(column, mark) -%}
{{ return(adapter.dispatch('joined_texts', 'desk_utils')(column, mark)) }}
{%- endmacro %}

{% macro default__joined_texts(column, mark) -%}
string_agg({{ column }}, {{ mark }})
{%- endmacro %}

{% macro spark__joined_texts(column, mark) -%}
concat_ws({{ mark }}, sort_array(collect_list({{ column }})))
{%- endmacro %}

{% macro _columns_of(wanted, there) %}
    {%- set names = there | map(attribute='name') | map('lower') | list -%}
    {%- for each in wanted -%}
    {%- if each.name in names %}{{ each.name }}{% else %}cast(null as {{ each.type }}) as {{ each.name }}{% endif -%}
    {%- if not loop.last %}, {% endif -%}
    {%- endfor -%}
{% endmacro %}

{% macro fill_columns(wanted, there) -%}
{{ return(desk_utils._columns_of(wanted, there)) }}
{%- endmacro %}

{% macro hours_between(first, second) -%}
round((unix_timestamp({{ second }}) - unix_timestamp({{ first }})) / 3600, 2)
{%- endmacro %}
