"""Macros that Rocky has instead: of those that dbt ships the ones that are a single call.

Some take the place of the original wherever a project has it, because that one asks the database.
"""

from typing import Final

from rocky.dbt.values import Macro

_TEXTS: Final = {
    "type_string()": "string",
    "type_int()": "int",
    "type_bigint()": "bigint",
    "type_float()": "float",
    "type_numeric()": "decimal(28,6)",
    "type_timestamp()": "timestamp",
    "type_boolean()": "boolean",
    "current_timestamp()": "current_timestamp()",
    "date_trunc(datepart, date)": "date_trunc('{{ datepart }}', {{ date }})",
    "safe_cast(field, type)": "try_cast({{ field }} as {{ type }})",
    "cast(field, type)": "cast({{ field }} as {{ type }})",
    "hash(field)": "md5(cast({{ field }} as string))",
    "concat(fields)": "concat({{ fields | join(', ') }})",
    "length(expression)": "length({{ expression }})",
    "any_value(expression)": "any_value({{ expression }})",
    "bool_or(expression)": "bool_or({{ expression }})",
    "except()": "except",
    "intersect()": "intersect",
    "right(string_text, length_expression)": "right({{ string_text }}, {{ length_expression }})",
    "replace(field, old_chars, new_chars)": (
        "replace({{ field }}, {{ old_chars }}, {{ new_chars }})"
    ),
    "split_part(string_text, delimiter_text, part_number)": (
        "split_part({{ string_text }}, {{ delimiter_text }}, {{ part_number }})"
    ),
}
BUILT_IN: Final = tuple(
    Macro(
        "dbt",
        signature.partition("(")[0],
        f"{{% macro {signature} -%}}{text}{{%- endmacro %}}",
        "dbt",
    )
    for signature, text in _TEXTS.items()
)
_SPINE: Final = """\
{%- macro date_spine(datepart, start_date, end_date) -%}
{%- set days = ['day', 'week', 'month', 'quarter', 'year'] -%}
{%- set kind = 'date' if datepart in days else 'timestamp' -%}
select date_{{ datepart }}
from (
    select explode(sequence(
        cast({{ start_date }} as {{ kind }}),
        cast({{ end_date }} as {{ kind }}),
        interval {{ '3 month' if datepart == 'quarter' else '1 ' ~ datepart }}
    )) as date_{{ datepart }}
)
where date_{{ datepart }} < cast({{ end_date }} as {{ kind }})
{%- endmacro -%}"""
IN_PLACE: Final = tuple(Macro(owner, "date_spine", _SPINE, "dbt") for owner in ("dbt", "dbt_utils"))
"""A row for each day (or month, and so on) from a first one up to a last, which is left out."""
