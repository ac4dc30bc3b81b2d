"""The table of other engines: what each makes of a function or a form of Spark SQL.

A row in a `.tsv` beside this module is one fact, and the files are edited by hand. `functions.tsv`
has a row for every function and engine; `name/2` is a call with two arguments, where that is read
otherwise than `name`. `constructs.tsv` has the forms that are no calls. What nobody has found out
is `unknown`, never left out: a call that is not in the table is not known either.
"""

from collections.abc import Iterator, Mapping
from enum import StrEnum
from functools import cache
from pathlib import Path
from typing import Final, Literal, NamedTuple, get_args

from rocky.language.ir import CONSTRUCT, Use

Dialect = Literal["bigquery", "databricks", "duckdb", "postgres", "redshift", "snowflake", "trino"]
DIALECTS: Final[tuple[Dialect, ...]] = get_args(Dialect)
TITLES: Final[Mapping[str, str]] = {
    "bigquery": "BigQuery",
    "databricks": "Databricks",
    "duckdb": "DuckDB",
    "postgres": "PostgreSQL",
    "redshift": "Redshift",
    "snowflake": "Snowflake",
    "trino": "Trino",
}


class Verdict(StrEnum):
    """What an engine makes of something.

    `renamed` is there under another name or in another form, and means the same; `differs` is there
    by this name and means something else.
    """

    SAME = "same"
    RENAMED = "renamed"
    DIFFERS = "differs"
    NONE = "none"
    UNKNOWN = "unknown"


class Fact(NamedTuple):
    """One cell of the table. `instead` is what the engine has, `note` what is different about it.

    `rewritten` tells whether `rocky emit-sql --dialect` writes exactly that; `spark` says in words
    what a form is.
    """

    verdict: Verdict
    instead: str = ""
    note: str = ""
    rewritten: bool = False
    spark: str = ""


_SAME: Final = Fact(Verdict.SAME)
_UNKNOWN: Final = Fact(Verdict.UNKNOWN)


def _rows(name: str) -> Iterator[list[str]]:
    lines = Path(__file__).with_name(name).read_text(encoding="utf-8").splitlines()
    return (line.split("\t") for line in lines[1:])


@cache
def functions_of(dialect: str) -> Mapping[str, Fact]:
    """What an engine makes of each function, by name or `name/arguments`."""
    return {
        name: Fact(Verdict(verdict), instead, note)
        for name, engine, verdict, instead, note in _rows("functions.tsv")
        if engine == dialect
    }


@cache
def constructs_of(dialect: str) -> Mapping[str, Fact]:
    """What an engine makes of each form that is no call."""
    return {
        name: Fact(Verdict(verdict), instead, note, rewritten == "yes", spark)
        for name, engine, verdict, instead, note, rewritten, spark in _rows("constructs.tsv")
        if engine == dialect
    }


@cache
def portable_forms() -> Mapping[str, str]:
    """What to write in place of a function or a form so that Spark and the others agree."""
    return {row[0]: row[1] for row in _rows("portable.tsv")}


@cache
def names() -> frozenset[str]:
    """Every function and form of the table: what can be allowed by its name."""
    functions = {name.partition("/")[0] for name in functions_of(DIALECTS[0])}
    return frozenset(functions) | constructs_of(DIALECTS[0]).keys()


def judge(use: Use, dialect: str) -> Fact:
    """What an engine makes of a use."""
    if use.arguments == CONSTRUCT:
        return constructs_of(dialect)[use.name]
    facts = functions_of(dialect)
    found = facts.get(f"{use.name}/{use.arguments}") or facts.get(use.name)
    if found is not None:
        return found
    # An operator that is called by its name is the operator.
    return _UNKNOWN if any(map(str.isalpha, use.name)) else _SAME
