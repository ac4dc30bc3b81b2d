"""A template is a stranger's program: it reaches nothing that it was not handed."""

from itertools import count

import pytest

from rocky.dbt.sandbox import Sandbox
from rocky.dbt.templates import render_node
from tests.dbt.dbt_projects import model, project, render

ATTACKS = [
    "{{ ''.__class__.__mro__[1].__subclasses__() }}",
    "{{ ref.__self__ }}",
    "{{ ref.__func__.__globals__ }}",
    "{{ this._mark.__class__ }}",
    "{{ this.include.__globals__ }}",
    "{{ adapter._names.project.root }}",
    "{{ config._given }}",
    "{{ var.__self__.project }}",
    "{{ cycler.__init__.__globals__ }}",
    "{{ lipsum.__globals__['os'] }}",
    "{{ self.__init__ }}",
    "{{ '{0.__class__}'.format(this) }}",
    "{{ '%s' | format(this.__class__) }}",
    "{{ this | attr('__class__') }}",
    "{{ [this] | map(attribute='__class__') | first }}",
    "{{ modules.os.environ }}",
    "{% include '/etc/passwd' %}",
    "{% import 'os' as os %}{{ os }}",
    "{% extends '/etc/passwd' %}",
    "{{ 'a' * 1000000000 }}",
    "{{ [0] * 1000000000 }}",
    "{{ 9 ** 999999999 }}",
    "{{ range(100000000) | list }}",
    "{{ fromyaml('!!python/object/apply:os.system [id]') }}",
    "{% macro a() %}{{ a() }}{% endmacro %}{{ a() }}",
]


@pytest.mark.parametrize("text", ATTACKS)
def test_a_template_finds_no_way_out(text):
    assert render(text).failure is not None


def test_what_a_template_changes_is_gone_with_it():
    variables = {"ways": ["a"]}
    text = "{% do var('ways').append('b') %}{{ var('ways') | join(',') }}"

    assert "a\n" == render(text, variables=variables).sql()
    assert {"ways": ["a"]} == variables


DEEP = "".join(f"{{% for a{n} in [1] %}}" for n in range(25)) + "{% endfor %}" * 25

ENDLESS = "{% for a in range(99999) %}{% for b in range(99999) %}{% endfor %}{% endfor %}"
DOUBLES = (
    "{% macro f(n) %}{% if n %}{{ f(n - 1) }}{{ f(n - 1) }}{% endif %}{% endmacro %}{{ f(60) }}"
)
SQUARES = (
    "{% set x = namespace(n=9) %}{% for a in range(99) %}{% set x.n = x.n * x.n %}{% endfor %}"
)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("{{ return(1) }}", "`return` is called outside of a macro"),
        (DEEP, "too many statically nested blocks"),
        pytest.param(
            ENDLESS,
            "its loops and macros go on for more than 1,000,000 rounds",
            marks=pytest.mark.slow,
        ),
        ("{% for a in range(9) recursive %}{{ loop(range(9)) }}{% endfor %}", "without end"),
        ("{{ lipsum(1000000000) }}", "'lipsum' is undefined"),
        ("{{ (9 ** 64) ** 64 ** 64 }}", "too large"),
        (SQUARES, "the number is too large"),
        ("{{ [1] | map('nothing_like_it') | list }}", "No filter named 'nothing_like_it'"),
        ("{% if 1 is nothing_like_it %}{% endif %}", "No test named"),
        ("{% if false %}{{ 1 | nothing_like_it }}{% endif %}{{ 1 | no }}", "No filter named"),
        ("{{ 'x' | center(9000000000000000000) }}", "more memory than there is"),
        ("{{ " + "(" * 3000 + "1" + ")" * 3000 + " }}", "nested too deep"),
        ("{{ '%20000000d' | format(1) }}", "longer than 10000000 characters"),
        ("select '\ue0007\ue001'", "U+E000"),
        ("select '\ue002'", "U+E000"),
        ("select '{{ \"\\ue0007\\ue001\" }}'", "U+E000"),
        ("select '{{ \"\\ue000\" }}'", "U+E000"),
        ("select '{{ var(\"mark\") }}'", "U+E000"),
    ],
)
def test_whatever_a_template_says_is_a_failure_of_its_own(text, why):
    assert why in render(text, variables={"mark": "\ue0009\ue001"}).failure.reason


def test_what_is_read_only_when_the_table_is_there_moves_no_other_name():
    text = (
        "select * from {% if is_incremental() %}{{ ref('people') }} join {% endif %}"
        "{{ source('raw', 'orders') }}"
    )
    found = render(text)

    assert "select * from raw.orders\n" == found.sql()
    assert ["people join"] == [found.block_sql(each, "itself") for each in found.blocks]
    assert found.only_adds


def test_a_template_that_goes_on_is_ended_by_the_clock_too():
    ticks = count()
    sandbox = Sandbox(lambda: float(next(ticks)))
    node = model("m", ENDLESS)
    found = render_node(project(node), node, sandbox)

    assert "it is not rendered after 30 seconds" == found.failure.reason


def test_the_line_of_a_loop_without_end_is_known_and_its_template_cannot_hide_it(monkeypatch):
    monkeypatch.setattr("rocky.dbt.sandbox.MOST_ROUNDS", 1_000)
    text = "{% set count_round = 1 %}\nselect 1\n" + ENDLESS

    assert 3 == render(text).failure.line


@pytest.mark.parametrize("text", [ENDLESS, DOUBLES])
def test_rounds_of_loops_and_calls_of_macros_are_counted(text, monkeypatch):
    monkeypatch.setattr("rocky.dbt.sandbox.MOST_ROUNDS", 1_000)

    why = "its loops and macros go on for more than 1,000 rounds"
    assert why == render(text).failure.reason


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("{% for n in range(3) %}{{ n }},{% endfor %}", "0,1,2,"),
        (
            "{% set x = namespace(n=1) %}{% for a in [2, 3] %}{% set x.n = x.n * a %}{% endfor %}{{ x.n }}",
            "6",
        ),
        ("{{ dict(a=1)['a'] }}", "1"),
    ],
)
def test_names_that_every_template_has_are_there(text, said):
    assert f"{said}\n" == render(text).sql()


def test_the_next_template_is_counted_anew(monkeypatch):
    monkeypatch.setattr("rocky.dbt.sandbox.MOST_ROUNDS", 1_000)
    loop = "{% for a in range(99) %}{% endfor %}" * 7

    assert None is render(loop).failure
    assert None is render(loop).failure
