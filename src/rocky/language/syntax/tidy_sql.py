"""SQL made tidy without another meaning: words of SQL in capitals, no stray space, its own lines.

Where lines break stays the author's. Whatever is changed is proved: the query before and after has
the same pieces but for space and the case of words, and where words were changed, the same tree.
"""

import re
from typing import Any, Final, NamedTuple

from sqlglot import exp

from rocky.language.quotes import find_quotes
from rocky.language.syntax.parser import ParsedQuery, SyntaxProblem, parse_query

_PIECE: Final = re.compile(r"(?P<space>\s+)|(?P<word>[^\W\d]\w*)|(?P<other>\d\w*|.)", re.DOTALL)
_WORDS: Final = frozenset(
    "select from where group by order having limit join inner left right full outer cross semi anti"
    " on using as and or not in is null between like ilike rlike case when then else end union all"
    " distinct intersect except with over partition asc desc exists lateral true false".split()
)

WRITES_NAMES: Final = frozenset(
    {"TO_JSON", "TO_XML", "TO_VARIANT_OBJECT", "TYPEOF", "SCHEMA_OF_VARIANT"}
)
"""Functions whose result holds the names of fields, with the letters they were written in."""


class Piece(NamedTuple):
    """A part of a query's text: a comment, space, something quoted, a word or anything else."""

    kind: str
    text: str


class Tidy(NamedTuple):
    """A tidy text, and whether its words could be put into capitals."""

    text: str
    capitals: bool


def tidy_sql(text: str) -> Tidy | SyntaxProblem:
    """A query made tidy, or why it is none.

    A text with variables is no query before they have values: its words stay as they are.
    """
    pieces = _pieces(text)
    plain = _join(pieces)
    if "@var" in text.lower():
        return Tidy(plain, capitals=False)
    parsed = parse_query(text)
    if isinstance(parsed, SyntaxProblem):
        return parsed
    if any(name in text.upper() for name in WRITES_NAMES):
        # Beside such a function every letter is part of the query's hash.
        return Tidy(plain, capitals=False)
    changed = _join([Piece(kind, _capital(kind, each)) for kind, each in pieces])
    again = parse_query(changed)
    if isinstance(again, ParsedQuery) and _exact(parsed.tree) == _exact(again.tree):
        return Tidy(changed, capitals=True)
    return Tidy(plain, capitals=False)


def same_pieces(before: str, after: str) -> bool:
    """Whether two texts differ in nothing but space and the case of SQL's own words."""
    return _bare(before) == _bare(after)


def _bare(text: str) -> list[str]:
    made: list[str] = []
    for kind, each in _pieces(text):
        if kind == "line":
            made.append(_stripped(each))
        elif kind == "word" and each.lower() in _WORDS:
            made.append(each.lower())
        elif kind != "space":
            made.append(each)
    return made


def _pieces(text: str) -> list[Piece]:
    found: list[Piece] = []
    at = 0
    for start, end in [*(each.span for each in find_quotes(text)), (len(text), len(text))]:
        found += [Piece(str(each.lastgroup), each[0]) for each in _PIECE.finditer(text, at, start)]
        if start < end:
            kind = "line" if text.startswith("--", start) else "quoted"
            found.append(Piece(kind, text[start:end]))
        at = end
    return found


def _stripped(comment: str) -> str:
    """A comment `-- ...` without space at its end; a backslash there must not end its line."""
    stripped = comment.rstrip()
    return f"{stripped} " if stripped.endswith("\\") else stripped


def _capital(kind: str, text: str) -> str:
    return text.upper() if kind == "word" and text.lower() in _WORDS else text


def _join(pieces: list[Piece]) -> str:
    made: list[str] = []
    for kind, text in pieces:
        if kind == "space":
            *lines, last = text.replace("\r\n", "\n").split("\n")
            # An empty line at most, and nothing at the end of a line.
            made.append("\n" * min(len(lines), 2) + last)
        else:
            made.append(_stripped(text) if kind == "line" else text)
    return "".join(made).strip() + "\n"


def _exact(node: Any) -> Any:
    """A tree as plain values: unlike the library's own comparison, this sees the case of names."""
    if isinstance(node, exp.Expr):
        kept = {
            key: _exact(value)
            for key, value in node.args.items()
            if value is not None and value != [] and value is not False
        }
        return (type(node).__name__, tuple(sorted(kept.items(), key=lambda pair: pair[0])))
    if isinstance(node, list):
        return tuple(_exact(each) for each in node)
    return (type(node).__name__, str(node))
