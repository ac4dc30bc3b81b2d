"""Corpus queries with something changed: another column, function, operator, literal or keyword.

Where the random queries are regular, these keep the shapes people write, and most of them are
wrong in a way people are.
"""

import random
from collections.abc import Callable

from rocky.language.datatypes.text import parse_schema
from tests.corpus.gaps import accepted_questions
from tests.corpus.questions import shop_tables
from tests.properties.pieces import pieces_of

_COLUMNS = sorted({field.name for ddl in shop_tables().values() for field in parse_schema(ddl)})
_PLAIN_COLUMNS = [name for name in _COLUMNS if name.isidentifier() and name != "select"]
_QUERIES = [each.sql for each in accepted_questions() if "/* nested" not in each.sql]
_CALLED = sorted(
    {
        text.lower()
        for sql in _QUERIES
        for (kind, text), (_, after) in zip(pieces_of(sql), pieces_of(sql)[1:], strict=False)
        if kind == "word" and after == "(" and not text.isupper()
    }
)
_OPERATORS = ("+", "-", "*", "/", "%", "=", "<", ">", "||", "AND", "OR", "<=>", "DIV")
_LITERALS = (
    "1",
    "2.5",
    "'a'",
    "NULL",
    "TRUE",
    "DATE '2024-01-01'",
    "INTERVAL 1 DAY",
    "array(1)",
    "10L",
    "1e0",
)
_KEYWORDS = {
    "LEFT": ("RIGHT", "FULL", "INNER"),
    "JOIN": ("LEFT JOIN", "CROSS JOIN", "FULL JOIN"),
    "ALL": ("DISTINCT", ""),
    "UNION": ("INTERSECT", "EXCEPT"),
    "ROLLUP": ("CUBE",),
    "DISTINCT": ("",),
    "ROWS": ("RANGE",),
    "OUTER": ("",),
    "NOT": ("",),
}


def mutated_query(seed: int) -> str:
    """The query of a seed: a corpus query with one to three things changed."""
    chance = random.Random(seed)
    pieces = pieces_of(chance.choice(_QUERIES))
    for _ in range(chance.choice((1, 1, 2, 3))):
        chance.choice(_CHANGES)(chance, pieces)
    return "".join(text for _, text in pieces)


Pieces = list[tuple[str, str]]


def _change_column(chance: random.Random, pieces: Pieces) -> None:
    names = {name.lower() for name in _PLAIN_COLUMNS}
    places = [
        at for at, (kind, text) in enumerate(pieces) if kind == "word" and text.lower() in names
    ]
    # A column the query already has is more often in scope than one picked at random.
    used = [pieces[at][1] for at in places]
    _put(chance, pieces, places, used * 2 + _PLAIN_COLUMNS)


def _change_function(chance: random.Random, pieces: Pieces) -> None:
    places = [
        at
        for at, (kind, text) in enumerate(pieces[:-1])
        if kind == "word" and pieces[at + 1][1] == "(" and text.lower() in _CALLED
    ]
    _put(chance, pieces, places, _CALLED)


def _change_operator(chance: random.Random, pieces: Pieces) -> None:
    places = [at for at, (_, text) in enumerate(pieces) if text.upper() in _OPERATORS]
    _put(chance, pieces, places, list(_OPERATORS))


def _change_literal(chance: random.Random, pieces: Pieces) -> None:
    places = [at for at, (kind, _) in enumerate(pieces) if kind in ("number", "string")]
    _put(chance, pieces, places, list(_LITERALS))


def _change_keyword(chance: random.Random, pieces: Pieces) -> None:
    places = [at for at, (_, text) in enumerate(pieces) if text.upper() in _KEYWORDS]
    if places:
        at = chance.choice(places)
        pieces[at] = ("word", chance.choice(_KEYWORDS[pieces[at][1].upper()]))


def _column_for_literal(chance: random.Random, pieces: Pieces) -> None:
    places = [at for at, (kind, _) in enumerate(pieces) if kind in ("number", "string")]
    names = {name.lower() for name in _PLAIN_COLUMNS}
    used = [text for kind, text in pieces if kind == "word" and text.lower() in names]
    _put(chance, pieces, places, used or ["1"])


def _put(chance: random.Random, pieces: Pieces, places: list[int], texts: list[str]) -> None:
    if places:
        pieces[chance.choice(places)] = ("word", chance.choice(texts))


_CHANGES: tuple[Callable[[random.Random, Pieces], None], ...] = (
    _change_column,
    _change_column,
    _change_function,
    _change_function,
    _change_operator,
    _change_literal,
    _change_keyword,
    _column_for_literal,
)
