"""Expressions of the `.rocky` language as Spark SQL."""

from collections.abc import Callable, Iterable, Sequence
from typing import Final

from rocky.language.dsl.mapped_text import MappedWriter
from rocky.language.dsl.tokens import WORDS, Token, is_time
from rocky.language.dsl.tree import Form, Node
from rocky.language.names import quote_name, quote_text

QUOTED_WORDS: Final = frozenset(
    (
        "all alter any case create cube current_date current_time current_timestamp current_user "
        "describe else end fetch for glob grant having insert interval into lateral limit "
        "localtimestamp lock minus natural notnull offset order outer partitioned_by qualify "
        "recursive regexp returning revoke rollback rollup serdeproperties session_user table "
        "tablesample then uncache user using values when with xor"
    ).split()
)
"""Names that Spark SQL or its parser here would read as something else without backticks."""

_OPERATORS: Final = {"==": "=", "!=": "IS DISTINCT FROM", "and": "AND", "or": "OR"}
_WRAPPED: Final = ("binary", "negation", "test", "lambda")
"""Forms that need parentheses where an operator follows them."""


class ValueWriter:
    """Writes expressions. `write_pipeline` writes a pipeline that stands in one."""

    def __init__(self, writer: MappedWriter, write_pipeline: Callable[[Node], None]) -> None:
        self._writer = writer
        self._write_pipeline = write_pipeline
        self._borrowed = False
        self._forms: dict[Form, Callable[[Node], None]] = {
            "binary": self._spaced,
            "negation": self._spaced,
            "test": self._spaced,
            "duration": self._spaced,
            "minus": self._minus,
            "match": self._match,
            "call": self._call,
            "cast": self._cast,
            "kind": self._kind,
            "lambda": self._lambda,
            "item": self._item,
            "filter": self._filter,
            "over": self._over,
            "names": self._clause,
            "frame": self._frame,
            "key": self._key,
            "pipeline": self._write_pipeline,
        }

    def write(self, node: Node) -> None:
        """One expression."""
        self._forms.get(node.form, self._joined)(node)

    def write_name(self, token: Token, *, borrowed: bool = False) -> None:
        """A name of a column or a table."""
        name, borrowed = sql_name(token), borrowed or self._borrowed
        if name == token.text:
            self._writer.copy(name, token.span, borrowed=borrowed)
        else:
            self._writer.write(name, token.span, borrowed=borrowed)

    def write_borrowed(self, node: Node) -> None:
        """An expression that has its place elsewhere."""
        before, self._borrowed = self._borrowed, True
        self.write(node)
        self._borrowed = before

    def write_list(self, nodes: Iterable[Node | Token], separator: str = ", ") -> None:
        for index, node in enumerate(nodes):
            if index:
                self._writer.glue(separator)
            self._part(node)

    def _part(self, part: Node | Token) -> None:
        if isinstance(part, Node):
            self.write(part)
        else:
            self._token(part)

    def _say(self, text: str, token: Token) -> None:
        """What stands for a token in SQL."""
        if text == token.text:
            self._writer.copy(text, token.span, borrowed=self._borrowed)
        else:
            self._writer.write(text, token.span, borrowed=self._borrowed)

    def _token(self, token: Token) -> None:
        if token.kind in ("name", "quoted"):
            self.write_name(token)
        else:
            self._say(sql_of(token), token)

    def _joined(self, node: Node) -> None:
        """Its parts side by side; commas between them get a space, names behind `.` are names."""
        after_dot = False
        for part in node.parts:
            if isinstance(part, Token) and part.is_mark(","):
                self._say(", ", part)
            elif isinstance(part, Token) and after_dot:
                self.write_name(part)
            else:
                self._part(part)
            after_dot = isinstance(part, Token) and part.is_mark(".")

    def _spaced(self, node: Node) -> None:
        for index, part in enumerate(node.parts):
            if index:
                self._writer.glue(" ")
            self._say_plain(part)

    def _say_plain(self, part: Node | Token) -> None:
        """A part whose names are words of SQL, such as the unit of a duration."""
        if isinstance(part, Token) and part.kind == "name":
            self._say(part.text.upper(), part)
        else:
            self._part(part)

    def _minus(self, node: Node) -> None:
        self._part(node.parts[0])
        inner = node.nodes[0]
        if next(inner.tokens()).is_mark("-"):
            # Two in a row would begin a comment.
            self._writer.glue(" ")
        self.write(inner)

    def _call(self, node: Node) -> None:
        name, opening, *inner, closing = node.parts
        assert isinstance(name, Token)
        assert isinstance(opening, Token)
        self._say(name.text, name)
        self._say("(", opening)
        if not inner and name.text.lower() == "count":
            self._say("*", closing)  # type: ignore[arg-type] # the closing mark
        for part in inner:
            if isinstance(part, Token) and part.is_word("distinct"):
                self._say("DISTINCT ", part)
            elif isinstance(part, Token) and part.is_mark(","):
                self._say(", ", part)
            else:
                self._part(part)
        self._part(closing)

    def _cast(self, node: Node) -> None:
        name, opening, value, word, kind, closing = node.parts
        assert isinstance(name, Token)
        assert isinstance(word, Token)
        self._say(name.text, name)
        self._part(opening)
        self._part(value)
        self._say(" AS ", word)
        self._part(kind)
        self._part(closing)

    def _kind(self, node: Node) -> None:
        before: Token | None = None
        for part in node.parts:
            assert isinstance(part, Token)
            if before is not None and before.kind != "mark" and part.kind != "mark":
                # `struct<a int>`, `interval day to second`.
                self._writer.glue(" ")
            self._say(", " if part.is_mark(",") else part.text, part)
            before = part

    def _lambda(self, node: Node) -> None:
        *parameters, arrow, body = node.parts
        for part in parameters:
            if isinstance(part, Token) and part.is_mark(","):
                self._say(", ", part)
            else:
                self._part(part)
        self._say(" -> ", arrow)  # type: ignore[arg-type] # a mark
        self._part(body)

    def _item(self, node: Node) -> None:
        if len(node.parts) == 1:
            self._part(node.parts[0])
            return
        name, arrow, value = node.parts
        self._part(name)
        self._say(" => ", arrow)  # type: ignore[arg-type] # a mark
        self._part(value)

    def _filter(self, node: Node) -> None:
        call, word, _, condition, closing = node.parts
        self._part(call)
        self._say(" FILTER (WHERE ", word)  # type: ignore[arg-type] # a word
        self._part(condition)
        self._part(closing)

    def _over(self, node: Node) -> None:
        call, word, _, *clauses, closing = node.parts
        self._part(call)
        self._say(" OVER (", word)  # type: ignore[arg-type] # a word
        self.write_list([each for each in clauses if isinstance(each, Node)], " ")
        self._part(closing)

    def _clause(self, node: Node) -> None:
        """`partition` or `sort` of a window, or names with commas between them."""
        first = node.parts[0]
        if isinstance(first, Token):
            self._say("PARTITION BY " if first.text == "partition" else "ORDER BY ", first)
        self.write_list(node.nodes)

    def _frame(self, node: Node) -> None:
        word, *bounds = [part for part in node.parts if isinstance(part, Token)]
        dots = next(at for at, token in enumerate(bounds) if token.is_mark(".."))
        self._say(f"{word.text.upper()} BETWEEN ", word)
        self._bound(bounds[:dots], "PRECEDING")
        self._say(" AND ", bounds[dots])
        self._bound(bounds[dots + 1 :], "FOLLOWING")

    def _bound(self, tokens: Sequence[Token], open_end: str) -> None:
        last = tokens[-1]
        number = last.text.replace("_", "")
        if last.text == "unbounded":
            self._say(f"UNBOUNDED {open_end}", last)
        elif last.text == "current" or not number.strip("0"):
            self._say("CURRENT ROW", last)
        else:
            way = "PRECEDING" if len(tokens) > 1 else "FOLLOWING"
            self._say(f"{number} {way}", last)

    def _key(self, node: Node) -> None:
        first, *_ = node.parts
        value = node.nodes[0]
        self.write(value)
        if isinstance(first, Token):
            self._say(" DESC", first)
        for part in node.parts[node.parts.index(value) + 1 :]:
            assert isinstance(part, Token)
            self._say(f" {part.text.upper()}", part)

    def _match(self, node: Node) -> None:
        arms = [each for each in node.nodes if each.form == "arm"]
        subject = next((each for each in node.nodes if each.form != "arm"), None)
        self._say("CASE", node.parts[0])  # type: ignore[arg-type] # the word
        # Where every pattern is a value, the subject is written once.
        simple = subject is not None and not any(map(_needs_subject, arms))
        if simple and subject is not None:
            self._writer.glue(" ")
            self._operand(subject)
        for index, arm in enumerate(arms):
            pattern, arrow, result = arm.parts
            assert isinstance(arrow, Token)
            if isinstance(pattern, Token):
                self._say(" ELSE ", pattern)
            else:
                self._writer.glue(" WHEN ")
                if simple or subject is None:
                    self.write(pattern)
                else:
                    self._pattern(subject, pattern, first=not index)
                self._say(" THEN ", arrow)
            self._part(result)
        self._say(" END", node.parts[-1])  # type: ignore[arg-type] # the closing mark

    def _pattern(self, subject: Node, pattern: Node, *, first: bool) -> None:
        """The condition of an arm. The subject is repeated, and has its place once."""
        before, self._borrowed = self._borrowed, self._borrowed or not first
        self._operand(subject)
        self._borrowed = before
        self._writer.glue(" ")
        if _is_open(pattern):
            self.write(pattern)
        elif pattern.form == "literal" and pattern.words == ["null"]:
            self._writer.write("IS NULL", pattern.span)
        else:
            self._writer.glue("= ")
            self._operand(pattern)

    def _operand(self, node: Node) -> None:
        """An expression beside an operator that was not written."""
        wrapped = node.form in _WRAPPED
        if wrapped:
            self._writer.glue("(")
        self.write(node)
        if wrapped:
            self._writer.glue(")")


def _is_open(pattern: Node) -> bool:
    """Whether a pattern begins with its operator: the subject stands to its left."""
    return pattern.form in ("binary", "test") and isinstance(pattern.parts[0], Token)


def _needs_subject(arm: Node) -> bool:
    pattern = arm.parts[0]
    if isinstance(pattern, Token):
        return False
    return _is_open(pattern) or pattern.words == ["null"]


def sql_name(token: Token) -> str:
    """A name in Spark SQL, in backticks where it would be read as something else."""
    text = token.text
    if token.kind != "quoted" and (text.lower() in QUOTED_WORDS or text in WORDS):
        return quote_name(text)
    return text


def sql_of(token: Token) -> str:
    """A token in Spark SQL; names are written by `ValueWriter.write_name`."""
    text = token.text
    if token.kind == "number":
        return text.replace("_", "")
    if token.kind == "moment":
        return f"{'TIMESTAMP' if is_time(text) else 'DATE'} '{text[1:]}'"
    if token.kind == "string":
        return quote_text(text[1:-1])
    if token.kind == "word":
        return _OPERATORS.get(text, text.upper())
    return _OPERATORS.get(text, text)
