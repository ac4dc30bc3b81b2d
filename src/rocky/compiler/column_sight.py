"""Column sight: whether a query can see that columns of a table have other types than before.

It is told from the text, without the parser. A column whose name stands nowhere in it is seen only
by what reads whole rows: stars, pipes, pivots, natural joins, lists of names and their like. Where
in doubt, it is seen: then the query is bound again, which is always right.
"""

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Final

from rocky.analysis.compilation import Record, Schema, unpack_schema
from rocky.compiler.carried_columns import Field
from rocky.language.quotes import only_code

_PLAIN_NAME: Final = re.compile(r"[A-Za-z0-9_]+")
_WHOLE_ROWS: Final = re.compile(r"\b(?:natural|pivot|unpivot|table|identifier)\b|\|>")
_ALIAS_LIST: Final = re.compile(
    r"(?:\b(?:from|join)|,)\s*[\w.']+\s+(?:as\s+)?"
    r"(?!(?:on|using|where|join|when|then|else|in|not|and|or|is|like|between)\b)[\w']+\s*\("
)
"""A table whose columns get other names: `orders AS o(a, b)`."""
_TOKEN: Final = re.compile(r"\w+|'+|[^\w\s]")
_NO_ALIAS: Final = frozenset(
    "on using where join when then else in not and or is like rlike ilike between any some all"
    " exists as by from select distinct having values group sets union except intersect minus"
    " limit offset div case escape decimal dec numeric char varchar".split()
)
"""Words before a parenthesis that are not the name a table gets."""
_BEFORE_A_CALL: Final = frozenset(
    "select distinct all by on and or not in then else when case like rlike ilike between is from"
    " where having using with over partition join lateral view outer limit offset div any some"
    " escape".split()
)
"""After one of these words a name before a parenthesis is that of a function."""
_IN_A_WINDOW: Final = frozenset(
    "partition order sort distribute cluster rows range where )".split()
)
"""What follows `over (` and `filter (` of a function."""
_STAR: Final = re.compile(r"(\w*)(\s*)\*")
_COUNTED: Final = re.compile(r"\bcount\s*\(\s*\*\s*\)")
_BEFORE_A_STAR: Final = frozenset(
    "select distinct all as by on and or not in then else when case like between is from where"
    " having using with over partition except replace struct".split()
)
"""After one of these words `*` is no multiplication."""
_CLAUSE: Final = re.compile(r"[()]|\b(?:select|from|union|except|intersect|minus)\b")
_HINT: Final = "/*+"
_MOST: Final = 4_000


def can_see(sql: str, columns: Iterable[str]) -> bool:
    """Whether anything in a query may depend on the types of some columns of what it reads."""
    lower = sql.lower()
    if any(not _PLAIN_NAME.fullmatch(name) or name.lower() in lower for name in columns):
        return True
    return _reads_whole_rows(sql)


@lru_cache(_MOST)
def _reads_whole_rows(sql: str) -> bool:
    if _HINT in sql:
        return True
    code = _COUNTED.sub(" ", only_code(sql).lower())
    if _WHOLE_ROWS.search(code) is not None or _ALIAS_LIST.search(code) is not None:
        return True
    if any(map(_is_row, _star_places(code))) or _has_from_without_select(code):
        return True
    return _names_columns_anew(["", "", *_TOKEN.findall(code), ""])


def _names_columns_anew(tokens: Sequence[str]) -> bool:
    """Whether the columns of a table get other names, whatever stands between it and them.

    `(orders) AS o(a, b)`, `orders VERSION AS OF 1 o(a, b)`, `shop . orders o(a, b)`. Both ends are
    padded.
    """
    for at in range(2, len(tokens) - 1):
        if tokens[at] != "(":
            continue
        before, name, after = tokens[at - 2], tokens[at - 1], tokens[at + 1]
        if (
            not _is_name(name)
            or name in _NO_ALIAS
            or not (before in (")", "]") or _is_name(before))
        ):
            continue
        if name in ("over", "filter") and after in _IN_A_WINDOW:
            continue
        if before not in _BEFORE_A_CALL:
            return True
    return False


def _is_name(token: str) -> bool:
    return token[:1].isalnum() or token[:1] in ("_", "'")


def _star_places(code: str) -> Iterable[tuple[str, str]]:
    """What stands before each star: the word, and the character where there is none."""
    for found in _STAR.finditer(code):
        at = found.start(2) - 1
        yield found[1], code[at] if at >= 0 else ""


def _is_row(before: tuple[str, str]) -> bool:
    word, character = before
    return word in _BEFORE_A_STAR if word else character not in ")]'"


def _has_from_without_select(code: str) -> bool:
    """Whether a FROM stands alone, which means all columns; `extract(year FROM d)` counts too."""
    selects = [False]
    for found in _CLAUSE.finditer(code):
        word = found[0]
        if word == "(":
            selects.append(False)
        elif word == ")":
            if len(selects) > 1:
                selects.pop()
        elif word == "from":
            if not selects[-1]:
                return True
            selects[-1] = False
        else:
            selects[-1] = word == "select"
    return False


Retyped = Mapping[str, tuple[Field, Field]]
"""Columns by name, each as it was and as it is."""


class Faces:
    """The schemas behind faces that models had, so that two can be compared."""

    def __init__(self) -> None:
        self._schemas: dict[bytes, Record] = {}
        self._retyped: dict[tuple[bytes, bytes], Retyped | None] = {}

    def note(self, record: Record) -> None:
        """Remember what readers of a model saw."""
        if len(self._schemas) > _MOST:
            self._schemas, self._retyped = {}, {}
        self._schemas[record.face] = record

    def retyped(self, before: bytes, after: Record) -> Retyped | None:
        """The columns that are of another type, or null or not; None if more than that changed."""
        between = before, after.face
        if between not in self._retyped:
            old = self._schemas.get(before)
            self._retyped[between] = (
                _retyped(unpack_schema(old), unpack_schema(after)) if old is not None else None
            )
        return self._retyped[between]


def _retyped(before: Schema, after: Schema) -> Retyped | None:
    if before.known != after.known or len(before.columns) != len(after.columns):
        return None
    pairs = list(zip(before.columns, after.columns, strict=True))
    if any(old[0] != new[0] for old, new in pairs):
        return None
    found = {old[0]: (old, new) for old, new in pairs if old != new}
    times = Counter(each[0].lower() for each in after.columns)
    return found if all(times[name.lower()] == 1 for name in found) else None
