"""Expressions of the `.rocky` language: tokens -> tree, by precedence as Spark SQL has it.

`or`, `and`, `not`, comparisons and tests, `+ - ||`, `* / %`, unary minus, then what stands behind a
value. Comparisons do not chain: `a == b == c` has no meaning that everybody would guess.
"""

from collections.abc import Callable
from typing import Final

from rocky.language.dsl.cursor import Cursor
from rocky.language.dsl.operators import (
    COMPARISON,
    COMPARISONS,
    LOOSEST,
    NEGATION,
    TESTS,
    TIGHTEST,
    ends_early,
    precedence,
    refuse_mixture,
    refuse_open_key,
)
from rocky.language.dsl.tokens import Token, Unreadable
from rocky.language.dsl.tree import Form, Node

_LITERALS: Final = ("null", "true", "false")
_CASTS: Final = ("cast", "try_cast")
_UNITS: Final = frozenset(
    f"{unit}{plural}"
    for unit in ("year", "quarter", "month", "week", "day", "hour", "minute", "second",
                 "millisecond", "microsecond")
    for plural in ("", "s")
)  # fmt: skip


class Expressions:
    """The grammar of expressions. `parse_pipeline` reads a pipeline that stands in parentheses."""

    def __init__(self, cursor: Cursor, parse_pipeline: Callable[[], Node]) -> None:
        self._cursor = cursor
        self._parse_pipeline = parse_pipeline

    def parse(self) -> Node:
        """One expression. Raises Unreadable."""
        self._cursor.deeper()
        found = self._operators(LOOSEST)
        self._cursor.shallower()
        return found

    def parse_list(self, close: str, what: str) -> list[Node | Token]:
        """Expressions with commas between them, up to a closing mark that is left in place."""
        cursor = self._cursor
        parts: list[Node | Token] = []
        while not cursor.now.is_mark(close):
            parts.append(self._argument())
            if not cursor.now.is_mark(","):
                break
            parts.append(cursor.take())
        if not cursor.now.is_mark(close):
            raise cursor.unexpected(f"`,` or `{close}` {what}")
        return parts

    def _operators(self, least: int) -> Node:
        """Operands and the operators between them that bind at least so tightly.

        Operators of one precedence make one flat node, however many there are.
        """
        cursor = self._cursor
        if least <= NEGATION and cursor.now.is_word("not"):
            left = self._prefixed("negation", NEGATION)
        else:
            left = self._prefixed("minus", TIGHTEST) if cursor.now.is_mark("-") else self._postfix()
        chained = 0
        while (level := precedence(cursor.now)) >= least:
            if level == COMPARISON:
                if chained == COMPARISON:
                    raise _chain(cursor.now)
                is_test = cursor.now.kind == "word"
                left = self.test_of((left,)) if is_test else self.comparison_with((left,))
            else:
                before = left.parts if chained == level else (left,)
                refuse_mixture(before, cursor.now)
                left = Node("binary", (*before, cursor.take(), self._operators(level + 1)))
            chained = level
        return left

    def _prefixed(self, form: Form, least: int) -> Node:
        cursor = self._cursor
        cursor.deeper()
        found = Node(form, (cursor.take(), self._operators(least)))
        cursor.shallower()
        return found

    def comparison_with(self, before: tuple[Node | Token, ...]) -> Node:
        """An operator and what stands to its right, behind what was read before."""
        operator = self._cursor.take()
        if operator.text == "=":
            raise Unreadable("`=` is not an operator", operator.span, "write `==` to compare")
        right = self._operators(COMPARISON + 1)
        if operator.text == "==" and _is_null(right):
            raise Unreadable(
                "nothing equals `null`, so this is never true",
                right.span,
                "write `is null`",
            )
        return Node("binary", (*before, operator, right))

    def test_of(self, before: tuple[Node | Token, ...]) -> Node:
        """`is null`, `in (...)`, `between ... and ...`, `like ...` behind what was read before."""
        cursor = self._cursor
        parts = list(before)
        if cursor.now.is_word("is"):
            parts.append(cursor.take())
            if cursor.now.is_word("not"):
                parts.append(cursor.take())
            if not cursor.now.is_word(*_LITERALS):
                raise cursor.unexpected("`null`, `true` or `false` after `is`", _LITERALS)
            return Node("test", (*parts, cursor.take()))
        if cursor.now.is_word("not"):
            parts.append(cursor.take())
        if cursor.now.is_word("in"):
            return Node("test", (*parts, cursor.take(), self._in_list()))
        if cursor.now.is_word("between"):
            parts += (cursor.take(), self._operators(COMPARISON + 1))
            parts += (
                cursor.take_word("and", "between the two bounds"),
                self._operators(COMPARISON + 1),
            )
            return Node("test", tuple(parts))
        if cursor.now.is_word("like", "ilike", "rlike"):
            return Node("test", (*parts, cursor.take(), self._operators(COMPARISON + 1)))
        raise cursor.unexpected("`in`, `between` or `like` after `not`", ("in", "between", "like"))

    def _in_list(self) -> Node:
        cursor = self._cursor
        opening = cursor.take_mark("(", "after `in`")
        if cursor.now.is_word("from"):
            inner: list[Node | Token] = [self._parse_pipeline()]
        else:
            inner = self.parse_list(")", "in the list")
            if not inner:
                raise cursor.unexpected("a value in the list")
        return Node("list", (opening, *inner, cursor.take_mark(")", "after the list")))

    def _postfix(self) -> Node:
        cursor = self._cursor
        found = self._primary()
        while True:
            if cursor.now.is_mark("["):
                opening = cursor.take()
                inner = self.parse()
                closing = cursor.take_mark("]", "after the index")
                found = Node("index", (*_before(found), opening, inner, closing))
            elif cursor.now.is_mark(".") and found.form != "column":
                found = Node("index", (*_before(found), cursor.take(), self.field_name()))
            else:
                return found

    def field_name(self) -> Token:
        """What stands behind a `.`: there every word is a name."""
        if self._cursor.now.kind in ("name", "quoted", "word"):
            return self._cursor.take()
        raise self._cursor.unexpected("a name after `.`")

    def _primary(self) -> Node:
        cursor = self._cursor
        token = cursor.now
        if token.is_word("match"):
            return self._match()
        if token.kind in ("string", "number", "moment") or token.is_word(*_LITERALS):
            return Node("literal", (cursor.take(),))
        if token.is_mark("("):
            return self._parenthesised()
        is_call = cursor.ahead().is_mark("(")
        if token.kind == "placeholder":
            return self._call() if is_call else Node("literal", (cursor.take(),))
        if token.kind == "name" or (token.is_word("left", "right") and is_call):
            if token.text.lower() == "interval" and cursor.ahead().kind in ("number", "string"):
                return self._duration()
            if is_call:
                return self._call()
            if cursor.ahead().is_mark("->"):
                return Node("lambda", (cursor.take(), cursor.take(), self.parse()))
            return self.column()
        if token.kind == "quoted":
            return self.column()
        raise cursor.unexpected("an expression")

    def column(self) -> Node:
        """A name with the names it is qualified by, or fields below it."""
        cursor = self._cursor
        parts = [cursor.take_name("the name of a column")]
        while cursor.now.is_mark(".") and not cursor.ahead().is_mark("*"):
            parts += (cursor.take(), self.field_name())
        return Node("column", tuple(parts))

    def _parenthesised(self) -> Node:
        cursor = self._cursor
        parameters = self._parameters()
        if parameters is not None:
            arrow = cursor.take_mark("->", "after the parameters")
            return Node("lambda", (*parameters, arrow, self.parse()))
        opening = cursor.take()
        if cursor.now.is_word("from"):
            inner = self._parse_pipeline()
            return Node("subquery", (opening, inner, cursor.take_mark(")", "after the pipeline")))
        inner = self.parse()
        return Node("group", (opening, inner, cursor.take_mark(")", "after the expression")))

    def _parameters(self) -> list[Token] | None:
        """`(a, b)` before an arrow; None, and nothing taken, when that does not stand here."""
        cursor = self._cursor
        by = 1
        while cursor.ahead(by).kind == "name" and cursor.ahead(by + 1).is_mark(","):
            by += 2
        closes = cursor.ahead(by).kind == "name" and cursor.ahead(by + 1).is_mark(")")
        if not closes or not cursor.ahead(by + 2).is_mark("->"):
            return None
        return [cursor.take() for _ in range(by + 2)]

    def _duration(self) -> Node:
        cursor = self._cursor
        parts = [cursor.take(), cursor.take()]
        if cursor.now.text.lower() not in _UNITS:
            raise cursor.unexpected("a unit such as `day`", _UNITS)
        return Node("duration", (*parts, cursor.take()))

    def _call(self) -> Node:
        cursor = self._cursor
        name = cursor.take()
        opening = cursor.take()
        if name.text.lower() in _CASTS:
            parts = (name, opening, self.parse(), cursor.take_word("as", "before the type"))
            closing_parts = (self._kind(), cursor.take_mark(")", "after the type"))
            return Node("cast", (*parts, *closing_parts))
        inner: list[Node | Token] = []
        if cursor.now.is_word("distinct"):
            inner.append(cursor.take())
        if cursor.now.is_mark("*") and cursor.ahead().is_mark(")"):
            inner.append(cursor.take())
        else:
            inner += self.parse_list(")", f"in the arguments of `{name.text}`")
        found = Node("call", (name, opening, *inner, cursor.take()))
        if cursor.now.text == "filter" and cursor.ahead().is_mark("("):
            parts_of_filter = (cursor.take(), cursor.take(), self.parse())
            closing = cursor.take_mark(")", "after the condition")
            found = Node("filter", (found, *parts_of_filter, closing))
        if cursor.now.is_word("over"):
            found = self._over(found)
        return found

    def _argument(self) -> Node:
        cursor = self._cursor
        if cursor.now.is_word("from"):
            return self._parse_pipeline()
        if cursor.now.kind == "name" and cursor.ahead().is_mark("=>"):
            return Node("item", (cursor.take(), cursor.take(), self.parse()))
        return self.parse()

    def _kind(self) -> Node:
        """A type: every token up to the parenthesis that closes the cast."""
        cursor = self._cursor
        parts: list[Token] = []
        depth = 0
        while depth or not cursor.now.is_mark(")"):
            if cursor.now.kind not in ("name", "number", "quoted") and not cursor.now.is_mark(
                "(", ")", "<", ">", ",", ":"
            ):
                raise cursor.unexpected("a type such as `decimal(12, 2)`")
            depth += cursor.now.is_mark("(") - cursor.now.is_mark(")")
            parts.append(cursor.take())
        if not parts:
            raise cursor.unexpected("a type such as `decimal(12, 2)`")
        return Node("kind", tuple(parts))

    def _over(self, call: Node) -> Node:
        cursor = self._cursor
        parts: list[Node | Token] = [call, cursor.take(), cursor.take_mark("(", "after `over`")]
        order = ["partition", "sort", "rows", "range"]
        while not cursor.now.is_mark(")"):
            word = cursor.now.text
            if word not in order:
                wanted = ", ".join(f"`{each}`" for each in order) or "nothing more"
                raise cursor.unexpected(f"{wanted} or `)` in `over (...)`", order)
            order = order[order.index(word) + 1 :] if word in ("partition", "sort") else []
            parts.append(self._window_clause(word))
            if cursor.now.is_mark(","):
                parts.append(cursor.take())
        return Node("over", (*parts, cursor.take()))

    def _window_clause(self, word: str) -> Node:
        cursor = self._cursor
        opening = cursor.take()
        if word in ("rows", "range"):
            low = self._bound()
            dots = cursor.take_mark("..", "between the two bounds")
            high = self._bound()
            found = Node("frame", (opening, *low, dots, *high))
            if ends_early(low, high):
                raise Unreadable(
                    "the window ends before it begins",
                    found.span,
                    "rows before the current one are negative: `-3..current`",
                )
            return found
        parts: list[Node | Token] = [opening]
        while True:
            parts.append(self.sort_key() if word == "sort" else self.parse())
            ends = cursor.ahead().text in ("sort", "rows", "range")
            if not cursor.now.is_mark(",") or ends:
                return Node("names", tuple(parts))
            parts.append(cursor.take())

    def _bound(self) -> list[Token]:
        cursor = self._cursor
        if cursor.now.text in ("unbounded", "current"):
            return [cursor.take()]
        sign = [cursor.take()] if cursor.now.is_mark("-") else []
        if cursor.now.kind == "number":
            return [*sign, cursor.take()]
        raise cursor.unexpected(
            "`unbounded`, `current` or a number of rows", ("unbounded", "current")
        )

    def sort_key(self) -> Node:
        """An expression with its direction; a minus before it means descending."""
        cursor = self._cursor
        parts: list[Node | Token] = [cursor.take()] if cursor.now.is_mark("-") else []
        parts.append(self.parse())
        refuse_open_key(parts)
        if cursor.now.text in ("asc", "desc"):
            if len(parts) > 1:
                raise Unreadable(
                    "a key with `-` before it and a direction behind it",
                    cursor.now.span,
                    "`-key` means `key desc`: write one of the two",
                )
            parts.append(cursor.take())
        if cursor.now.text == "nulls":
            parts.append(cursor.take())
            if cursor.now.text not in ("first", "last"):
                raise cursor.unexpected("`first` or `last` after `nulls`", ("first", "last"))
            parts.append(cursor.take())
        return Node("key", tuple(parts))

    def _match(self) -> Node:
        cursor = self._cursor
        parts: list[Node | Token] = [cursor.take()]
        subject = not cursor.now.is_mark("{")
        if subject:
            parts.append(self.parse())
        parts.append(cursor.take_mark("{", "before the arms of `match`"))
        while not cursor.now.is_mark("}"):
            parts.append(self._arm(subject=subject))
            if not cursor.now.is_mark(","):
                break
            parts.append(cursor.take())
        if not any(isinstance(each, Node) and each.form == "arm" for each in parts):
            raise cursor.unexpected("an arm `pattern => result` in `match`")
        if not cursor.now.is_mark("}"):
            raise cursor.unexpected("`,` or `}` after an arm of `match`")
        arms = [each for each in parts if isinstance(each, Node) and each.form == "arm"]
        early = next((arm for arm in arms[:-1] if arm.words[0] == "_"), None)
        if early is not None:
            raise Unreadable(
                "the arms after `_` are never reached", early.span, "move `_` to the end"
            )
        return Node("match", (*parts, cursor.take()))

    def _arm(self, *, subject: bool) -> Node:
        cursor = self._cursor
        pattern: Node | Token
        if cursor.now.text == "_" and cursor.ahead().is_mark("=>"):
            pattern = cursor.take()
        elif subject and cursor.now.is_mark(*COMPARISONS):
            pattern = self.comparison_with(())
        elif subject and cursor.now.is_word(*TESTS):
            pattern = self.test_of(())
        else:
            pattern = self.parse()
        arrow = cursor.take_mark("=>", "between a pattern and its result")
        return Node("arm", (pattern, arrow, self.parse()))


def _before(node: Node) -> "tuple[Node | Token, ...]":
    """What stands before another index: however many there are, they make one flat node."""
    return node.parts if node.form == "index" else (node,)


def _chain(token: Token) -> Unreadable:
    return Unreadable(
        f"`{token.text}` follows a comparison",
        token.span,
        "put the comparison before it into parentheses, or join two by `and`",
    )


def _is_null(node: Node) -> bool:
    return node.form == "literal" and node.words == ["null"]
