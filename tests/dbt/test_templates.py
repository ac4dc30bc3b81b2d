"""A template becomes the query that a person would have written: names, no trace of Jinja."""

from dataclasses import replace

import pytest

from rocky.dbt.sandbox import Sandbox
from rocky.dbt.templates import render_node
from rocky.dbt.values import Macro
from tests.dbt.dbt_projects import model, project, render


def test_names_stand_in_the_place_of_refs_and_sources():
    found = render(
        "select * from {{ ref('orders') }} join {{ source('raw', 'orders') }} using (id)"
    )

    assert "select * from orders join raw.orders using (id)\n" == found.sql()
    assert ("model.shop.orders", "source.shop.raw.orders") == tuple(found.reads())
    assert () == found.features


def test_lines_that_hold_only_a_tag_leave_none_behind_and_others_stay():
    text = (
        "select\n    {% for way in ['a', 'b'] %}\n    {{ way }},\n    {% endfor %}\n    c\nfrom t"
    )
    assert "select\n    a,\n    b,\n    c\nfrom t\n" == render(text).sql()

    inline = "select a{% if true %}, b{% endif %}\nfrom t\nwhere {% if true %}x{% endif %}\n and y"
    assert "select a, b\nfrom t\nwhere x\n and y\n" == render(inline).sql()

    trimmed = (
        "select\n    {% for w in ['a', 'b'] -%}\n    {{ w }},\n    {% endfor -%}\n    c\nfrom t"
    )
    assert "select\n    a,\n    b,\n    c\nfrom t\n" == render(trimmed).sql()

    before = "select a\n    {%- if true %},\n    b\n    {%- endif %}\nfrom t"
    assert "select a,\n    b\nfrom t\n" == render(before).sql()


def test_comments_stay_and_those_of_jinja_at_the_top_become_comments_of_sql():
    found = render("{# What people\n   owe #}\n-- by id\nselect 1 -- one\n{# gone #}")

    assert "-- What people\n-- owe\n-- by id\nselect 1 -- one\n" == found.sql()


def test_a_cte_with_the_name_of_a_model_does_not_take_its_place():
    usual = "with orders as (select * from {{ ref('orders') }}) select * from orders"
    assert "with orders as (select * from orders) select * from orders\n" == render(usual).sql()

    twice = (
        "with orders as (select * from {{ ref('orders') }} where paid),"
        " rest as (select * from {{ ref('orders') }}) select * from rest"
    )
    assert (
        "with orders as (select * from orders where paid),"
        " rest as (select * from marts.orders) select * from rest\n"
    ) == render(twice).sql()

    text = "select 'orders as (' from {{ ref('orders') }}"
    assert "select 'orders as (' from orders\n" == render(text).sql()


def test_a_cte_that_hides_an_ephemeral_model_needs_a_hand():
    brief = model("brief", "select 1 as id", config={"materialized": "ephemeral"})
    text = "with brief as (select * from {{ ref('orders') }}) select * from {{ ref('brief') }}"
    usual = "with brief as (select * from {{ ref('brief') }}) select * from brief"

    def hidden(text):
        made = project(brief, model("m", text))
        return render_node(made, made.nodes["model.shop.m"], Sandbox()).hidden()

    assert ["brief"] == hidden(text)
    assert [] == hidden(usual)


def test_macros_of_the_project_are_carried_out_and_may_call_each_other_and_return():
    macros = {
        "euros": "{% macro euros(c) -%}{{ rounded(c ~ ' / 100') }}{%- endmacro %}",
        "rounded": "{% macro rounded(e) -%}round({{ e }}, {{ places() }}){%- endmacro %}",
        "places": "{% macro places() %}{{ return(2) }}{% endmacro %}",
        "_hidden": "{% macro _hidden() %}x{% endmacro %}",
    }
    found = render("select {{ euros('cents') }} as {{ shop._hidden() }} from t", macros=macros)

    assert "select round(cents / 100, 2) as x from t\n" == found.sql()
    assert ("`euros`", "`shop._hidden`") == found.features


def test_the_macro_for_spark_is_chosen_before_the_one_for_all():
    macros = {
        "agg": "{% macro agg(c) %}{{ return(adapter.dispatch('agg', 'shop')(c)) }}{% endmacro %}",
        "default__agg": "{% macro default__agg(c) %}string_agg({{ c }}){% endmacro %}",
        "spark__agg": "{% macro spark__agg(c) %}collect_list({{ c }}){% endmacro %}",
    }
    assert (
        "select collect_list(a) from t\n"
        == render("select {{ agg('a') }} from t", macros=macros).sql()
    )


def test_what_dbt_ships_and_what_its_adapter_ships_are_one_package():
    made = replace(
        project(model("m", "select {{ dbt.now() }}")),
        macros=(
            Macro(
                "dbt",
                "now",
                "{% macro now() %}{{ return(adapter.dispatch('now', 'dbt')()) }}{% endmacro %}",
            ),
            Macro(
                "dbt",
                "default__now",
                "{% macro default__now() %}{{ exceptions.raise_compiler_error('none') }}{% endmacro %}",
            ),
            Macro(
                "dbt_spark",
                "spark__now",
                "{% macro spark__now() %}current_timestamp(){% endmacro %}",
            ),
        ),
    )
    assert (
        "select current_timestamp()\n"
        == render_node(made, made.nodes["model.shop.m"], Sandbox()).sql()
    )


def test_a_template_knows_its_own_node_and_adapter():
    assert (
        "shop m spark\n"
        == render("{{ model.package_name }} {{ model.name }} {{ adapter.type() }}").sql()
    )


def test_a_variable_stays_one_where_its_value_can_stand_in_sql():
    text = "select '{{ var('day') }}', {{ var('rows') }} {% if var('rows') > 1 %}, 2{% endif %}"
    found = render(text, variables={"day": "2026-01-01", "rows": 3})

    assert "select '@var(day, 2026-01-01)', @var(rows, 3) , 2\n" == found.sql()
    assert ("day", "rows") == found.variables
    assert "select '2026-01-01', 3 , 2" == found.as_dbt()

    unset = render(
        "{{ var('none') is none }} {{ var('other', none) is none }}", variables={"none": None}
    )
    assert "True True\n" == unset.sql()

    listed = render(
        "{{ var('ways') | join(', ') }} {{ var('odd') }}",
        variables={"ways": ["a", "b"], "odd": "a)'"},
    )
    assert "a, b a)'\n" == listed.sql()


def test_what_is_incremental_adds_is_known_by_its_place():
    found = render(
        "select * from {{ ref('orders') }}\n{% if is_incremental() %}\n"
        "where at > (select max(at) from {{ this }})\n{% endif %}\norder by 1"
    )
    assert "select * from orders\norder by 1\n" == found.sql()
    assert found.only_adds
    assert ["where at > (select max(at) from me)"] == [
        found.block_sql(each, "me") for each in found.blocks
    ]

    other = render("select {% if is_incremental() %}a{% else %}b{% endif %} from t")
    assert not other.only_adds


@pytest.mark.parametrize(
    ("text", "line", "reason"),
    [
        ("select\n{{ run_query('x') }}", 2, "asks the database"),
        ("a\n\n{% set c = adapter.get_columns_in_relation(this) %}", 3, "asks the database"),
        ("select '{{ run_started_at }}'", 1, "is known only in a run"),
        ("{{ modules.datetime.datetime.now() }}", 1, "is Python"),
        ("select * from {{ ref('nothing') }}", 1, "names nothing"),
        ("select * from {{ source('raw', 'x') }}", 1, "is not declared"),
        ("{{ var('nobody') }}", 1, "has no value"),
        ("{{ env_var('HOME') }}", 1, "the environment is not read"),
        ("a\n{{ dbt_utils.star(this) }}", 2, "no macro `dbt_utils.star` is here"),
        ("a\n{{ other.star() }}", 2, "'other' is undefined"),
        ("a\n{% if x %}", 2, "end of template"),
        ("{{ exceptions.raise_compiler_error('no') }}", 1, "it refuses by itself: no"),
    ],
)
def test_what_only_a_run_of_dbt_can_answer_is_refused_at_its_line(text, line, reason):
    found = render(text)

    assert found.failure is not None
    assert (True, line) == (reason in found.failure.reason, found.failure.line), found.failure


def test_a_default_of_an_environment_variable_is_taken_and_said():
    found = render("{{ env_var('REGION', 'eu') }} {{ target.name }}")

    assert "eu prod\n" == found.sql()
    assert (
        "`env_var('REGION')` was taken as its default",
        "`target.name` was taken as `prod`",
    ) == found.remarks


def test_a_spine_of_dates_asks_no_database():
    found = render("{{ dbt_utils.date_spine('month', \"'2026-01-01'\", 'current_date') }}")

    assert "interval 1 month" in found.sql()
    assert "where date_month < cast(current_date as date)\n" in found.sql()
