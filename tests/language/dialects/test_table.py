"""The table of dialects is whole: every function, every form, every engine, and DuckDB's own word."""

import re
from collections import Counter
from pathlib import Path

import duckdb
import pytest

import rocky
from rocky.language.dialects.table import (
    DIALECTS,
    TITLES,
    Verdict,
    constructs_of,
    functions_of,
    names,
    portable_forms,
)
from rocky.language.functions.catalogue import all_names
from rocky.language.syntax.constructs import find_constructs
from rocky.operations.check.explain import explanation

PACKAGE = Path(rocky.__file__).parent
FOLDER = PACKAGE / "language" / "dialects"

# Words of DuckDB's grammar, which are no functions of its catalogue.
GRAMMAR = frozenset(
    "and or not in between like ilike when coalesce ifnull cast extract grouping grouping_id "
    "current_timestamp date localtimestamp percentile_cont percentile_disc".split()
)


@pytest.mark.parametrize("dialect", DIALECTS)
def test_every_function_of_the_catalogue_has_a_verdict_for_every_engine(dialect):
    assert set() == set(all_names()) - functions_of(dialect).keys()


@pytest.mark.parametrize("file", ["functions.tsv", "constructs.tsv", "portable.tsv"])
def test_no_fact_stands_twice_and_all_are_in_order(file):
    keys = [tuple(line.split("\t")[:2]) for line in (FOLDER / file).read_text().splitlines()[1:]]
    if file == "portable.tsv":
        keys = [(name,) for name, _ in keys]

    assert [] == [key for key, count in Counter(keys).items() if count > 1]


@pytest.mark.parametrize("dialect", DIALECTS)
def test_a_fact_says_what_its_verdict_needs(dialect):
    facts = {**functions_of(dialect), **constructs_of(dialect)}
    mute = {
        name
        for name, fact in facts.items()
        if (fact.verdict is Verdict.DIFFERS and not fact.note)
        or (fact.verdict is Verdict.RENAMED and not fact.instead)
        or (fact.verdict in (Verdict.SAME, Verdict.UNKNOWN) and (fact.note or fact.instead))
    }

    assert set() == mute


def test_every_form_that_can_be_noted_is_in_the_table_and_no_other():
    """The names are literals in the modules that note them, and the table is their only reader."""
    noted: set[str] = set()
    for path in (PACKAGE / "language").rglob("*.py"):
        text = path.read_text()
        noted |= set(re.findall(r'_note\(\s*"([a-z-]+)"', text))
        noted |= set(re.findall(r'notes\.append\(\("([a-z-]+)"', text))
    notes = (PACKAGE / "language/binder/expressions/dialect_notes.py").read_text()
    noted |= set(re.findall(r'"(null-order-\w+|array-index|map-key)"', notes))
    kinds = re.search(r'_WRITTEN_TYPES: Final = frozenset\(\s*"([^"]+)"', notes)
    noted |= {f"type-{kind.replace('_', '-')}" for kind in kinds.group(1).split()}
    tokens = Path(find_constructs.__code__.co_filename).read_text()
    noted |= set(re.findall(r'^    \("([a-z-]+)", ', tokens, re.MULTILINE))
    noted |= set(re.findall(r'yield "([a-z-]+)"', tokens))
    noted |= {"ignore-nulls-inside", "ignore-nulls-behind"}

    assert dict.fromkeys(DIALECTS, noted) == {
        dialect: set(constructs_of(dialect)) for dialect in DIALECTS
    }


def test_the_explanation_names_every_form_that_can_be_allowed():
    page = explanation("P001")

    assert set() == {name for name in constructs_of("duckdb") if f"`{name}`" not in page}


def test_every_engine_has_a_title():
    assert set(DIALECTS) == TITLES.keys()


def test_a_portable_form_is_one_of_something_in_the_table():
    assert set() == portable_forms().keys() - names()


def duckdb_functions() -> set[str]:
    found = duckdb.sql("SELECT DISTINCT lower(function_name) FROM duckdb_functions()").fetchall()
    return {name for (name,) in found}


is_duckdb_2 = pytest.mark.skipif(
    int(duckdb.__version__.split(".")[0]) < 2, reason="the column is that of DuckDB 2"
)


@is_duckdb_2
def test_duckdb_has_every_function_that_is_the_same_there():
    same = {
        name.partition("/")[0]
        for name, fact in functions_of("duckdb").items()
        if fact.verdict is Verdict.SAME
    }

    assert set() == same - duckdb_functions() - GRAMMAR


@is_duckdb_2
def test_duckdb_has_every_name_that_stands_for_another():
    renamed = {
        fact.instead.lower()
        for fact in functions_of("duckdb").values()
        if fact.verdict is Verdict.RENAMED and fact.instead.isidentifier()
    }

    assert set() == renamed - duckdb_functions() - GRAMMAR - {"current_date"}


@is_duckdb_2
def test_duckdb_has_no_function_that_is_said_to_be_missing():
    missing = {
        name for name, fact in functions_of("duckdb").items() if fact.verdict is Verdict.NONE
    }

    assert set() == missing & duckdb_functions()
