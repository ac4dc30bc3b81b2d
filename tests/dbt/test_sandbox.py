"""A template is a stranger's program: it reaches nothing that it was not handed."""

import pytest

from tests.dbt.dbt_projects import render

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
