"""A model's query in the SQL of another engine, with everything about it that is not exact.

The text is the parser library's; what is said of it is the table's. A function or form is exact
where the engine has it with the same meaning, by the same name or by one that only has to be put in
its place, and where a test has shown that the library writes the form rightly. All else is named
with its line, whether or not the library has rewritten it.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Final

from rocky.analysis.lints.portability import describe
from rocky.diagnostics.diagnostic import SourceText, Span
from rocky.language.dialects.table import TITLES, Fact, Verdict, functions_of, judge
from rocky.language.ir import CONSTRUCT, Use
from rocky.language.syntax.transpiler import (
    Names,
    Transpiled,
    call_at,
    transpile_call,
    transpile_query,
)
from rocky.project.models import ModelFile

_BARE: Final = frozenset(
    "current_catalog current_date current_schema current_time current_timestamp current_user "
    "curdate localtimestamp now session_user user".split()
)
"""What some engines write without parentheses and others with them, as the library knows."""

_SHAPED: Final = frozenset(
    "any any_value array_agg count first first_value lag last last_value lead listagg nth_value "
    "percentile_cont percentile_disc string_agg".split()
)
"""What the library has to know for what it is, to write what stands in or around its call."""


@dataclass(frozen=True, slots=True)
class Inexact:
    """A function or form that the engine may read otherwise, where the model has it."""

    name: str
    line: int
    reason: str


@dataclass(frozen=True, slots=True)
class TranspiledModel:
    """A model's query as another engine would be given it, its comments saying what is inexact."""

    sql: str
    inexact: tuple[Inexact, ...]


def transpile_model(model: ModelFile, uses: Sequence[Use], dialect: str) -> TranspiledModel:
    """The query of a SQL model for an engine."""
    text = SourceText(model.path, model.text)
    inexact = []
    for use in uses:
        fact = judge(use, dialect)
        if not _is_exact(use, fact, model, dialect):
            line = text.line_of(model.place_in_file(Span(use.start, use.end)).start)
            inexact.append(Inexact(use.name, line, _reason(use, dialect, fact)))
    written = _rewrite(model.sql, dialect)
    if written is None:
        reason = "sqlglot cannot read this query, so it stands here as Spark reads it"
        inexact.insert(0, Inexact("query", 1, reason))
    else:
        inexact += [Inexact("query", 1, f"sqlglot: {each}") for each in written.unsupported]
    found = tuple(dict.fromkeys(inexact))
    body = written.sql if written is not None else model.sql.strip()
    return TranspiledModel(f"{_header(model, dialect, found)}{body}\n", found)


def _rewrite(sql: str, dialect: str) -> Transpiled | None:
    if dialect == "databricks":
        # It reads Spark SQL; the library would write some of it otherwise.
        return Transpiled(sql.strip(), ())
    return transpile_query(sql, dialect, _names(dialect))


def _is_exact(use: Use, fact: Fact, model: ModelFile, dialect: str) -> bool:
    if use.arguments == CONSTRUCT:
        return fact.verdict is Verdict.SAME or fact.rewritten
    if fact.verdict is Verdict.RENAMED:
        return any(use.name == name for name, _ in _names(dialect).renamed)
    if fact.verdict is not Verdict.SAME:
        return False
    if use.name in _names(dialect).kept or use.name in _BARE or not any(map(str.isalpha, use.name)):
        return True
    if dialect == "databricks":
        return True
    # Calls with another number of arguments are read otherwise, so the library was let at it.
    call = call_at(model.sql, use.start)
    written = transpile_call(call, dialect) if call is not None else None
    return written is not None and written.lower().startswith(f"{use.name}(")


def _reason(use: Use, dialect: str, fact: Fact) -> str:
    if fact.verdict is Verdict.SAME:
        return f"{TITLES[dialect]} has `{use.name}`, and sqlglot writes it otherwise"
    said = describe(use, dialect, fact)
    return f"{said}; there it is {fact.instead}" if fact.instead else said


def _header(model: ModelFile, dialect: str, inexact: Sequence[Inexact]) -> str:
    lines = [f"{TITLES[dialect]} SQL from {model.path}"]
    lines += [f"not exact, line {each.line}: {each.reason}" for each in inexact]
    return "".join(f"-- {' '.join(line.split())}\n" for line in lines)


@cache
def _names(dialect: str) -> Names:
    """The functions that the engine has, and those it has under another name alone."""
    facts: dict[str, set[Fact]] = {}
    for name, fact in functions_of(dialect).items():
        facts.setdefault(name.partition("/")[0], set()).add(fact)
    kept, renamed = [], []
    for name, found in facts.items():
        first = next(iter(found))
        if name in _BARE or name in _SHAPED:
            continue
        if len(found) == 1 and first.verdict is Verdict.SAME:
            kept.append(name)
        elif len(found) == 1 and first.verdict is Verdict.RENAMED and first.instead.isidentifier():
            renamed.append((name, first.instead))
    return Names(frozenset(kept), tuple(renamed))
