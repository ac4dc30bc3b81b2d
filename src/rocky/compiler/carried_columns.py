"""Carried columns: a reader that only hands a column on has its record mended, and is not bound.

Where a column of an input gets another type and the query writes its name nowhere but as a plain
item of select lists, or has it through a star, nothing in the query depends on the type: the column
comes out with it. The text says so without the parser, for a small kind of query; lineage, the
influences and the types of the record at hand must agree. Where in doubt there is nothing to mend:
the reader is bound, which is always right.
"""

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Final

from rocky.analysis.compilation import Body, Record, Schema, unpack_body, unpack_schema
from rocky.compiler.validity import face_of
from rocky.language.quotes import only_code
from rocky.project import ModelFile
from rocky.project.cache import pack

Field = tuple[str, str, bool]
"""A column of a schema: its name, the text of its type, whether it may be null."""
Changes = Mapping[tuple[str, str], tuple[Field, Field]]
"""Columns by table and name, each as it was and as it is."""

_PLAIN_TYPE: Final = re.compile(
    r"boolean|tinyint|smallint|int|bigint|float|double|decimal\(\d+,\d+\)"
    r"|string|binary|date|timestamp|timestamp_ntz"
)
_PLAIN_NAME: Final = re.compile(r"[A-Za-z0-9_]+")
_TOKEN: Final = re.compile(r"\w+|'+|[^\w\s]")
_FOREIGN: Final = frozenset(
    "union intersect minus except natural pivot unpivot lateral table identifier tablesample"
    " recursive values qualify".split()
)
"""Words of queries that are not looked into."""
_NO_FACTOR: Final = frozenset(
    "select distinct all as by on and or not in then else when case like between is from where"
    " having using with over partition replace struct".split()
)
"""After one of these words `*` is no multiplication."""
_TAIL: Final = frozenset("group having order sort cluster distribute".split())
"""Clauses that may mean an item of the select list without its name: by a number, or `ALL`."""
_BEFORE_SELECT, _LIST, _FROM, _CONDITION, _TAILS, _ELSEWHERE = range(6)
_MOST: Final = 4_000


def carry(
    model: ModelFile,
    old: Record,
    lookups: tuple[tuple[tuple[str, ...], bytes], ...],
    changes: Changes,
) -> Record | None:
    """The record of a reader after columns that it reads changed; None where it must be bound."""
    if model.settings.tests:
        # Their SQL is bound with the types of the output.
        return None
    schema = carried_schema(model.sql, unpack_schema(old), unpack_body(old), changes)
    if schema is None:
        return None
    packed = pack(tuple(schema))
    return old._replace(lookups=lookups, face=face_of(model, packed), schema=packed)


def carried_schema(sql: str, schema: Schema, body: Body, changes: Changes) -> Schema | None:
    """The schema of a query after columns that it reads changed; None where that is not clear.

    `schema` and `body` are those that it had before. With the schema that is returned all else is
    as it was.
    """
    used = used_names(sql) if all(_is_only_type(*each) for each in changes.values()) else None
    if used is None or any(name.lower() in used for _, name in changes):
        return None
    changed = {at: changes[each] for at, each in enumerate(body.origins) if each in changes}
    looked_at = {at for at, _ in body.influences} | {each.origin for each in body.shares}
    if not changed.keys().isdisjoint(looked_at):
        return None
    columns = list(schema.columns)
    for place, (detail, column) in enumerate(zip(body.details, schema.columns, strict=True)):
        touched = [source for source in detail[3] if source >> 3 in changed]
        if not touched:
            continue
        before, after = changed[touched[0] >> 3]
        # A direct source alone is the column itself.
        if len(detail[3]) > 1 or touched[0] & 7 or column[1] != before[1]:
            return None
        columns[place] = column[0], after[1], column[2]
    return Schema(columns, schema.known)


def _is_only_type(before: Field, after: Field) -> bool:
    """Whether a column that can be named without quotes went from one plain type to another."""
    plain = _PLAIN_TYPE.fullmatch(before[1]) and _PLAIN_TYPE.fullmatch(after[1])
    return bool(plain and _PLAIN_NAME.fullmatch(after[0])) and before[2] == after[2]


@lru_cache(_MOST)
def used_names(sql: str) -> frozenset[str] | None:
    """All words of a query but those that stand only as plain items of select lists.

    None for a query in which a column may be used without its name being written.
    """
    if "`" in sql or "/*+" in sql:
        return None
    code = only_code(sql).lower()
    if "|>" in code or "{" in code:
        return None
    return _Scan(["", *_TOKEN.findall(code), "", ""]).used()


class _Unclear(Exception):
    """A query that is not looked into."""


class _Select:
    """A SELECT, or whatever else stands in parentheses, as far as it was read."""

    __slots__ = ("has_star", "has_tail", "items", "state")

    def __init__(self, state: int) -> None:
        self.state = state
        self.items: list[str] = []
        self.has_star = False
        self.has_tail = False


class _Scan:
    """One reading of a query's tokens, from left to right; both ends are padded."""

    def __init__(self, tokens: Sequence[str]) -> None:
        self._tokens = tokens
        self._open = [_Select(_BEFORE_SELECT)]
        self._used: set[str] = set()

    def used(self) -> frozenset[str] | None:
        try:
            for at in range(1, len(self._tokens) - 2):
                self._read(at)
            while self._open:
                self._close()
        except _Unclear:
            return None
        return frozenset(self._used)

    def _read(self, at: int) -> None:
        token, here = self._tokens[at], self._open[-1]
        if token in "([":
            self._enter(at, here)
        elif token in ")]":
            self._close()
            if not self._open:
                raise _Unclear
        elif token == "*":
            self._star(at, here)
        elif token == "," and here.state == _CONDITION:
            here.state = _FROM
        elif token[0].isalnum() or token[0] == "_":
            self._word(token, at, here)

    def _enter(self, at: int, here: _Select) -> None:
        """A parenthesis: a query only after AS of a CTE and in FROM, where nothing else may be."""
        before, after = self._tokens[at - 1], self._tokens[at + 1]
        if here.state in (_BEFORE_SELECT, _FROM):
            opening = ("as",) if here.state == _BEFORE_SELECT else ("from", "join", ",")
            if after not in ("select", "with") or before not in opening:
                raise _Unclear
            self._open.append(_Select(_BEFORE_SELECT))
        else:
            if after in ("select", "with", "from"):
                raise _Unclear
            self._open.append(_Select(_ELSEWHERE))

    def _close(self) -> None:
        done = self._open.pop()
        if done.has_tail:
            if done.has_star:
                raise _Unclear
            self._used.update(done.items)

    def _star(self, at: int, here: _Select) -> None:
        before, after = self._tokens[at - 1], self._tokens[at + 1]
        if before in ("select", ",", "."):
            if here.state != _LIST or after not in (",", "from"):
                raise _Unclear
            here.has_star = True
        elif before == "(":
            if self._tokens[at - 2] != "count" or after != ")":
                raise _Unclear
        elif before in _NO_FACTOR:
            raise _Unclear

    def _word(self, word: str, at: int, here: _Select) -> None:
        if self._tokens[at - 1] not in (".", "as"):
            if word in _FOREIGN or (word == "distinct" and self._tokens[at - 1] == "select"):
                raise _Unclear
            self._follow(word, here)
        if here.state == _LIST and self._is_item(at):
            here.items.append(word)
        else:
            self._used.add(word)

    def _follow(self, word: str, here: _Select) -> None:
        """Go on to the next clause where a word opens one."""
        if here.state == _ELSEWHERE:
            return
        if word == "select":
            if here.state != _BEFORE_SELECT:
                raise _Unclear
            here.state = _LIST
        elif word == "from":
            if here.state != _LIST:
                raise _Unclear
            here.state = _FROM
        elif here.state in (_FROM, _CONDITION, _TAILS):
            if word in ("where", "on", "using"):
                here.state = _CONDITION
            elif word == "join":
                here.state = _FROM
            elif word in _TAIL:
                here.state, here.has_tail = _TAILS, True
            elif word in ("limit", "offset", "window"):
                here.state = _TAILS

    def _is_item(self, at: int) -> bool:
        """Whether a name is all that an item of a select list is."""
        start = at
        while self._tokens[start - 1] == ".":
            start -= 2
        return (
            _PLAIN_NAME.fullmatch(self._tokens[start]) is not None
            and self._tokens[start - 1] in ("select", ",")
            and self._tokens[at + 1] in (",", "from")
        )
