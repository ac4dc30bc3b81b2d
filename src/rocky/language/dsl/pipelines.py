"""Pipelines of the `.rocky` language: bindings, sources and steps, tokens -> tree."""

from collections.abc import Callable
from typing import Final

from rocky.language.dsl.cursor import Cursor
from rocky.language.dsl.expressions import Expressions
from rocky.language.dsl.operators import refuse_numbered_key
from rocky.language.dsl.tokens import Problem, Token, Unreadable, read_tokens
from rocky.language.dsl.tree import Node

SIDES: Final = ("inner", "left", "right", "full", "cross", "semi", "anti")
JOINED_WORDS: Final = tuple(f"{side}_join" for side in SIDES)
_SETS: Final = ("union", "intersect", "except")
STEP_WORDS: Final = (
    *("where", "derive", "set", "drop", "group", "select", "join"),
    *(*SIDES, *JOINED_WORDS, "sort", "take", "distinct", *_SETS),
)
"""The words that a step begins with."""


def parse_text(text: str) -> Node | Problem:
    """The tree of a `.rocky` text, or why it has none."""
    try:
        return _Parser(Cursor(read_tokens(text))).parse_file()
    except Unreadable as unreadable:
        return unreadable.problem


class _Parser:
    """The grammar of a file."""

    def __init__(self, cursor: Cursor) -> None:
        self._cursor = cursor
        self._expressions = Expressions(cursor, self.parse_pipeline)
        self._steps: dict[str, Callable[[], Node]] = {
            "where": self._where,
            "derive": self._entries,
            "set": self._entries,
            "drop": self._drop,
            "group": self._group,
            "select": self._select,
            "join": self._join,
            **dict.fromkeys((*SIDES, *JOINED_WORDS), self._join),
            "sort": self._sort,
            "take": self._take,
            "distinct": lambda: Node("step", (self._cursor.take(),)),
            **dict.fromkeys(_SETS, self._combine),
        }

    def parse_file(self) -> Node:
        cursor = self._cursor
        parts: list[Node | Token] = []
        named: dict[str, Token] = {}
        while cursor.now.is_word("let"):
            binding = self._let()
            name = next(token for token in binding.tokens() if token.kind in ("name", "quoted"))
            if named.setdefault(name.text.lower(), name) is not name:
                raise Unreadable(
                    f"`{name.text}` is bound twice", name.span, "give one of the two another name"
                )
            parts.append(binding)
        if not cursor.now.is_word("from"):
            wanted = "a step or `from`" if parts else "`from` or `let`"
            raise cursor.unexpected(f"{wanted}, the beginning of a pipeline", ("from", "let"))
        parts.append(self.parse_pipeline())
        if cursor.now.kind != "end":
            raise cursor.unexpected("a step or the end of the file", self._steps)
        return Node("file", (*parts, cursor.take()))

    def _let(self) -> Node:
        cursor = self._cursor
        parts = (cursor.take(), cursor.take_name("a name after `let`"))
        mark = cursor.take_mark("=", "after the name")
        if not cursor.now.is_word("from"):
            raise cursor.unexpected("`from` after `=`", ("from",))
        return Node("let", (*parts, mark, self.parse_pipeline()))

    def parse_pipeline(self) -> Node:
        """`from` and its steps, up to what is no step."""
        cursor = self._cursor
        cursor.deeper()
        parts: list[Node | Token] = [Node("step", (cursor.take(), self._source("after `from`")))]
        while True:
            if cursor.now.is_mark("|"):
                parts.append(cursor.take())
                if cursor.now.text not in self._steps and cursor.now.text != "replicate":
                    raise cursor.unexpected("a step after `|`", self._steps)
            if cursor.now.is_word("replicate"):
                steps = sum(isinstance(part, Node) for part in parts)
                parts.append(self._replicate(alone=steps == 1))
                break
            parse = (
                self._steps.get(cursor.now.text) if cursor.now.kind in ("word", "name") else None
            )
            if parse is None:
                break
            parts.append(parse())
        cursor.shallower()
        return Node("pipeline", tuple(parts))

    def _source(self, where: str) -> Node:
        """A table or a pipeline in parentheses, with an optional name."""
        cursor = self._cursor
        if cursor.now.is_mark("("):
            opening = cursor.take()
            if not cursor.now.is_word("from"):
                raise cursor.unexpected("`from` in the parentheses", ("from",))
            inner = self.parse_pipeline()
            parts: list[Node | Token] = [
                Node("subquery", (opening, inner, cursor.take_mark(")", "after the pipeline")))
            ]
        else:
            if cursor.now.kind == "placeholder":
                # A macro that stands for a table, or a variable that has no value yet.
                parts = [self._expressions.parse()]
            elif cursor.now.kind in ("name", "quoted"):
                parts = [self._expressions.column()]
            else:
                raise cursor.unexpected(f"the name of a table {where}")
        if cursor.now.is_word("as"):
            parts += (cursor.take(), cursor.take_name("a name after `as`"))
        return Node("source", tuple(parts))

    def _where(self) -> Node:
        return Node("step", (self._cursor.take(), self._expressions.parse()))

    def _entries(self) -> Node:
        word = self._cursor.take()
        return Node(
            "step", (word, self._block(self._entry, f"`name: expression` in `{word.text}`"))
        )

    def _block(self, parse: Callable[[], Node], what: str) -> Node:
        """`{ a, b, }`: items with commas between them, and perhaps one at the end."""
        cursor = self._cursor
        parts: list[Node | Token] = [cursor.take_mark("{", "after the step's word")]
        if cursor.now.is_word("keep") and parse == self._kept:
            parts.append(cursor.take())
        if cursor.now.is_mark("}"):
            raise cursor.unexpected(what)
        while not cursor.now.is_mark("}"):
            parts.append(parse())
            if not cursor.now.is_mark(","):
                break
            parts.append(cursor.take())
        if not cursor.now.is_mark("}"):
            raise cursor.unexpected("`,` or `}`")
        return Node("block", (*parts, cursor.take()))

    def _entry(self) -> Node:
        cursor = self._cursor
        name = cursor.take_name("the name of a column")
        mark = cursor.take_mark(":", f"after the name `{name.text}`")
        return Node("entry", (name, mark, self._expressions.parse()))

    def _drop(self) -> Node:
        cursor = self._cursor
        parts: list[Node | Token] = [cursor.take(), cursor.take_name("the name of a column")]
        while cursor.now.is_mark(","):
            parts += (cursor.take(), cursor.take_name("the name of a column"))
        return Node("step", tuple(parts))

    def _group(self) -> Node:
        cursor = self._cursor
        parts: list[Node | Token] = [cursor.take()]
        if not cursor.now.is_mark("{"):
            parts.append(self._group_key())
            while cursor.now.is_mark(","):
                parts += (cursor.take(), self._group_key())
        if cursor.now.is_mark("{"):
            parts.append(self._block(self._entry, "`name: aggregate` in `group`"))
        return Node("step", tuple(parts))

    def _group_key(self) -> Node:
        return self._named_or_column("a key of `group`")

    def _named_or_column(self, what: str) -> Node:
        """`name: expression`, or a column, which needs no other name."""
        cursor = self._cursor
        if cursor.now.kind in ("name", "quoted") and cursor.ahead().is_mark(":"):
            return self._entry()
        found = self._expressions.parse()
        if found.form != "column" and next(found.tokens()).text.lower() != "@var":
            raise Unreadable(
                f"{what} that is no column needs a name", found.span, "write `name: expression`"
            )
        return Node("item", (found,))

    def _select(self) -> Node:
        return Node("step", (self._cursor.take(), self._block(self._item, "a column in `select`")))

    def _item(self) -> Node:
        cursor = self._cursor
        if cursor.now.is_mark("*"):
            return Node("star", (cursor.take(), *self._exceptions()))
        by = 0
        while cursor.ahead(by).kind in ("name", "quoted", "word") and cursor.ahead(by + 1).is_mark(
            "."
        ):
            by += 2
        if by and cursor.ahead(by).is_mark("*"):
            path = [cursor.take() for _ in range(by + 1)]
            return Node("star", (*path, *self._exceptions()))
        return self._named_or_column("an item of `select`")

    def _kept(self) -> Node:
        if self._cursor.now.is_mark("*"):
            raise Unreadable(
                "`keep` takes columns",
                self._cursor.now.span,
                "leave `keep` out to have all of them",
            )
        return self._named_or_column("what `keep` takes")

    def _exceptions(self) -> list[Token]:
        """`except (a, b)` behind a star."""
        cursor = self._cursor
        if not cursor.now.is_word("except"):
            return []
        parts = [cursor.take(), cursor.take_mark("(", "after `except`")]
        parts.append(cursor.take_name("the name of a column"))
        while cursor.now.is_mark(","):
            parts += (cursor.take(), cursor.take_name("the name of a column"))
        return [*parts, cursor.take_mark(")", "after the names")]

    def _join(self) -> Node:
        cursor = self._cursor
        parts: list[Node | Token] = [cursor.take()]
        side = parts[0].text.removesuffix("_join") if isinstance(parts[0], Token) else ""
        if parts[0].text in SIDES:  # type: ignore[union-attr] # a token
            parts.append(cursor.take_word("join", f"after `{side}`"))
        parts.append(self._source("after `join`"))
        if side == "cross":
            if cursor.now.is_word("on"):
                raise Unreadable("a cross join has no condition", cursor.now.span, "write `join`")
        else:
            parts.append(cursor.take_word("on", "and what the two sides have in common"))
            parts.append(self._condition())
        if cursor.now.is_mark("{"):
            if side in ("semi", "anti"):
                raise Unreadable(
                    f"a {side} join gives no columns of the other table",
                    cursor.now.span,
                    "remove `{ keep ... }`, or write `join`",
                )
            if not cursor.ahead().is_word("keep"):
                cursor.take()
                raise cursor.unexpected("`keep` and columns", ("keep",))
            parts.append(self._block(self._kept, "a column after `keep`"))
        return Node("step", tuple(parts))

    def _condition(self) -> Node:
        """Names of columns that both sides have, or an expression."""
        cursor = self._cursor
        first = self._expressions.parse()
        if not (first.form == "column" and len(first.parts) == 1):
            return first
        parts: list[Node | Token] = [first]
        while cursor.now.is_mark(","):
            parts += (cursor.take(), Node("column", (cursor.take_name("the name of a column"),)))
        return Node("names", tuple(parts))

    def _sort(self) -> Node:
        cursor = self._cursor
        parts: list[Node | Token] = [cursor.take(), self._expressions.sort_key()]
        while cursor.now.is_mark(","):
            parts += (cursor.take(), self._expressions.sort_key())
        found = Node("step", tuple(parts))
        for key in found.nodes:
            refuse_numbered_key(key.nodes[0])
        return found

    def _take(self) -> Node:
        cursor = self._cursor
        word = cursor.take()
        if cursor.now.kind != "number" or not cursor.now.text.replace("_", "").isdigit():
            raise cursor.unexpected("a whole number of rows after `take`")
        return Node("step", (word, cursor.take()))

    def _combine(self) -> Node:
        cursor = self._cursor
        word = cursor.take()
        parts: list[Node | Token] = [word]
        if cursor.now.text in ("all", "distinct"):
            parts.append(cursor.take())
        elif word.text == "union":
            raise cursor.unexpected(
                "`all` (every row) or `distinct` after `union`", ("all", "distinct")
            )
        return Node("step", (*parts, self._source(f"after `{word.text}`")))

    def _replicate(self, *, alone: bool) -> Node:
        word = self._cursor.take()
        if not alone or self._cursor.now.text in self._steps or self._cursor.now.is_mark("|"):
            raise Unreadable(
                "`replicate` copies a table as it is and stands alone after `from`",
                word.span,
                "remove it, or the other steps",
            )
        return Node("step", (word,))
