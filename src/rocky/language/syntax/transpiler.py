"""The parser library's own rewriting into the SQL of another engine: a proposal, never a promise.

It passes on what it does not know and says nothing, so nothing here says that a text is exact;
`analysis/transpilation.py` knows by the table what is not. What the table calls the same stays as
it is written, and what it gives another name gets that name: the library would write such functions
otherwise too, not always rightly. A division is written without its guard against zero, for which
Spark raises.
"""

import logging
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Final

from sqlglot import Dialect, exp
from sqlglot.errors import ErrorLevel, SqlglotError

from rocky.language.quotes import on_one_line, only_code, without_inner_hints
from rocky.language.syntax.dialect import SPARK, library_settings

_LONGEST: Final = 200
_LIBRARY: Final = logging.getLogger("sqlglot")
_BRACKET: Final = re.compile("[()]")
# What the library raises for texts that it reads wrongly.
_FAULTS: Final = (SqlglotError, LookupError, AttributeError, TypeError, ValueError, RecursionError)


@dataclass(frozen=True, slots=True)
class Names:
    """What becomes of functions: those that stay, and those that get another name."""

    kept: frozenset[str] = frozenset()
    renamed: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Transpiled:
    """A query in another dialect, and what the library itself says it could not write."""

    sql: str
    unsupported: tuple[str, ...]


NO_NAMES: Final = Names()


def transpile_query(sql: str, dialect: str, names: Names = NO_NAMES) -> Transpiled | None:
    """A query of Spark in another dialect; None where the library cannot read it."""
    try:
        with library_settings(names.kept, _renamed(names)), _quiet():
            trees = SPARK.parse(without_inner_hints(on_one_line(sql)))
        if len(trees) != 1 or trees[0] is None:
            return None
        for division in trees[0].find_all(exp.Div):
            division.set("safe", False)
        generator = Dialect.get_or_raise(dialect).generator(
            pretty=True, unsupported_level=ErrorLevel.IGNORE
        )
        with _quiet():
            written = generator.generate(trees[0])
    except _FAULTS:
        return None
    return Transpiled(written, tuple(dict.fromkeys(generator.unsupported_messages)))


@cache
def _renamed(names: Names) -> Mapping[str, str]:
    return dict(names.renamed)


@lru_cache(maxsize=1 << 12)
def transpile_call(call: str, dialect: str) -> str | None:
    """A call in another dialect, on one line; None for one that is long or cannot be read."""
    found = transpile_query(f"SELECT {call}", dialect) if len(call) <= _LONGEST else None
    if found is None or found.unsupported:
        return None
    return " ".join(found.sql.split()).removeprefix("SELECT ")


def call_at(sql: str, start: int) -> str | None:
    """The text of the call whose name begins at an offset, up to its closing parenthesis.

    None where it is too long to be rewritten by itself.
    """
    depth = 0
    for bracket in _BRACKET.finditer(only_code(sql[start : start + _LONGEST])):
        depth += 1 if bracket[0] == "(" else -1
        if depth <= 0:
            return sql[start : start + bracket.end()] if depth == 0 else None
    return None


@contextmanager
def _quiet() -> Iterator[None]:
    """Without the library's log: what it has to say is returned."""
    before = _LIBRARY.disabled
    _LIBRARY.disabled = True
    try:
        yield
    finally:
        _LIBRARY.disabled = before
