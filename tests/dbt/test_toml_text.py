"""What is written as TOML is read as it was."""

import tomllib
from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rocky.dbt.toml_text import Block, Inline, format_toml
from rocky.project.toml.variables import resolve_variables

TEXTS = st.text(st.characters(exclude_categories=["Cs"]))
VALUES = st.one_of(
    st.booleans(),
    st.integers(-(2**53), 2**53),
    st.floats(allow_nan=False, allow_infinity=False),
    TEXTS.filter(bool),
)


def read(text):
    def missing(at, name):
        raise AssertionError(name)

    return resolve_variables(tomllib.loads(text), {}, missing)


@pytest.mark.slow
@given(st.dictionaries(TEXTS, VALUES | st.lists(VALUES, min_size=1)))
def test_any_table_is_read_as_it_was_written(table):
    assert table == read(format_toml(table))


def test_a_variable_of_the_environment_is_only_text():
    assert {"description": "costs ${PRICE}"} == read(format_toml({"description": "costs ${PRICE}"}))


def test_blocks_inside_blocks_are_read_as_they_were_written():
    table = {
        "strategy": {"type": "merge", "unique_key": ["id"]},
        "columns": {"a b": {"description": "x"}},
        "test": [
            Block(
                {
                    "name": "one",
                    "given": [
                        Block({"ref": "m", "rows": [Inline({"id": 1, "on": date(2026, 1, 1)})]})
                    ],
                    "expect": {"rows": [Inline({"n": 2})]},
                }
            ),
            Block({"name": "two"}),
        ],
    }
    assert table == read(format_toml(table))
