"""The library: the macros of a project, and texts with their calls expanded.

A macro is worked out when it is first called. What is wrong with it is one fault in its own file;
whoever calls it is not told again.
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Final, NamedTuple, NoReturn, TypeVar

from sqlglot import exp

from rocky.diagnostics.codes import Code
from rocky.diagnostics.diagnostic import Label, Span
from rocky.diagnostics.suggestion import suggestion
from rocky.language.macros.arguments import describe_kind, fits, stands_alone
from rocky.language.macros.bodies import MacroBody, finish_body, parse_body, stand_in
from rocky.language.macros.calls import Mention, find_mentions
from rocky.language.macros.declaration import Declaration
from rocky.language.macros.expansion import Expansion, expansion_of
from rocky.language.macros.faults import MacroFault
from rocky.language.macros.fresh_names import with_fresh_names
from rocky.language.macros.pieces import (
    Hole,
    Piece,
    Pieces,
    Place,
    copied,
    cut,
    made,
    places_of,
    text_of,
    without_comments,
)
from rocky.language.macros.values import Mismatch, Value, judge, match_arguments, put
from rocky.language.quotes import find_comments
from rocky.language.syntax.parser import NestedTooDeeply, SyntaxProblem, with_deep_stack

T = TypeVar("T")

_IN_FROM: Final = re.compile(r"\b(?:FROM|JOIN)\s*\Z", re.IGNORECASE)
_SHOWN: Final = 8
MAX_MADE: Final = 200_000
"""How many characters the calls of one text may stand for, those in their arguments included."""


class Macro(NamedTuple):
    """A macro of a project: its file, what it declares, and its text in pieces.

    `comments` are where the text has white space in the place of comments.
    """

    path: str
    declaration: Declaration
    pieces: Pieces
    comments: tuple[Span, ...] = ()


class _Broken(Exception):
    """A call that cannot be expanded; why is among the faults."""


@dataclass(slots=True)
class _Text:
    """A text that is being expanded; `owner` is the macro it is the body of, if it is one.

    `tables` are those that its macros read, `ctes` names of its own, `used` the macros by path,
    `made` is how many characters its calls stand for.
    """

    owner: Macro | None
    calling: tuple[str, ...]
    faults: list[MacroFault]
    tables: dict[str, Place] = field(default_factory=dict)
    ctes: set[str] = field(default_factory=set)
    used: dict[str, str] = field(default_factory=dict)
    made: int = 0

    def refuse(
        self,
        code: Code,
        message: str,
        places: tuple[Place, ...],
        help_text: str | None = None,
        *labels: Label,
    ) -> NoReturn:
        """Report what is wrong with a call and give it up."""
        self.faults.append(MacroFault(code, message, places, help_text, labels))
        raise _Broken

    def grow(self, size: int, call: Mention, places: tuple[Place, ...]) -> None:
        """Count what a call stands for, and give up one that stands for too much."""
        self.made += size
        if self.made > MAX_MADE:
            self.refuse(
                Code.MACRO_RECURSION,
                f"with `@{call.name}` the calls in this text stand for more than"
                f" {MAX_MADE:,} characters",
                places,
                "an argument is written wherever its parameter is, so calls within calls grow"
                " fast: make a column of a CTE or of a model of what is used again",
            )


class MacroLibrary:
    """The macros of a project by their keys. `faults` are what is wrong with those looked at.

    `broken` are keys of macros that cannot be read, which is reported elsewhere.
    """

    def __init__(self, macros: Iterable[Macro], broken: Iterable[str] = ()) -> None:
        self._broken = frozenset(broken)
        self._macros = {each.declaration.key: each for each in macros}
        self._bodies: dict[str, MacroBody | None] = {}
        self._uses: dict[str, dict[str, str]] = {}
        self.faults: list[MacroFault] = []

    def check(self) -> None:
        """Look at every macro, called or not."""
        for key, macro in self._macros.items():
            try:
                _with_stack(partial(self._body, key, ()))
            except NestedTooDeeply:
                head = places_of(macro.pieces, *macro.declaration.head)
                said = "the macro is nested too deeply"
                self.faults.append(MacroFault(Code.UNUSABLE_MACRO, said, head))

    def expand(self, text: str) -> Expansion | list[MacroFault]:
        """A text with its calls expanded, or what is wrong with them.

        An empty list: a macro that it calls is broken, which is among `faults`.
        """
        try:
            return _with_stack(partial(self._expand_text, text))
        except NestedTooDeeply:
            places = (Place(None, Span(0, len(text))),)
            return [MacroFault(Code.SYNTAX_ERROR, "the query is nested too deeply", places)]

    def _expand_text(self, text: str) -> Expansion | list[MacroFault]:
        context = _Text(None, (), [])
        try:
            expanded = self._expand([copied(text, None)], context)
        except _Broken:
            return context.faults
        return expansion_of(text, with_fresh_names(expanded, text), context.used)

    # -------------------------------------------------------------- macros

    def _body(self, key: str, calling: tuple[str, ...]) -> MacroBody | None:
        if key not in self._bodies:
            self._bodies[key] = self._work_out(self._macros[key], calling)
        return self._bodies[key]

    def _work_out(self, macro: Macro, calling: tuple[str, ...]) -> MacroBody | None:
        declaration = macro.declaration
        context = _Text(macro, (*calling, declaration.key), self.faults)
        before = len(self.faults)
        try:
            self._check_defaults(macro)
            text = without_comments(macro.pieces, declaration.body, macro.comments)
            pieces = self._expand(text, context)
        except _Broken:
            return None
        if len(self.faults) > before:
            return None
        body = finish_body(pieces, declaration, context.tables)
        if isinstance(body, MacroFault):
            self.faults.append(body)
            return None
        self._uses[declaration.key] = {macro.path: declaration.name, **context.used}
        return body

    def _check_defaults(self, macro: Macro) -> None:
        for each in macro.declaration.parameters:
            if each.default is None:
                continue
            text = text_of(cut(macro.pieces, *each.default))
            if "@" in text or not fits(each.kind, text):
                said = f"the default of `{each.name}` is not {describe_kind(each.kind)}"
                places = places_of(macro.pieces, *each.default)
                self.faults.append(MacroFault(Code.UNUSABLE_MACRO, said, places))

    # -------------------------------------------------------------- texts

    def _expand(self, pieces: Pieces, context: _Text, *, as_table: bool = False) -> Pieces:
        """A text with holes in the place of parameters and bodies in the place of calls.

        `as_table` if the whole text stands where a table does.
        """
        text = text_of(pieces)
        mentions = list(find_mentions(text))
        if not mentions:
            return pieces
        in_from = set(range(len(mentions))) if as_table else _tables_among(text, mentions, context)
        done: Pieces = []
        at, broken = 0, False
        for index, mention in enumerate(mentions):
            done += cut(pieces, at, mention.span.start)
            at = mention.span.end
            try:
                if mention.arguments is None:
                    done += _parameter(mention, pieces, context)
                else:
                    done += self._call(mention, pieces, context, in_from=index in in_from)
            except _Broken:
                broken = True
        if broken:
            raise _Broken
        return [*done, *cut(pieces, at, len(text))]

    def _call(self, call: Mention, pieces: Pieces, context: _Text, *, in_from: bool) -> Pieces:
        places = places_of(pieces, *call.span)
        macro = self._macros.get(call.name.lower())
        if call.name.lower() in self._broken or context.made > MAX_MADE:
            raise _Broken
        if macro is None:
            names = [each.declaration.name for each in self._macros.values()]
            context.refuse(
                Code.UNKNOWN_MACRO,
                f"no macro `{call.name}`",
                places,
                suggestion(call.name, names)
                or f"declare it in `macros/{call.name}.sql`, or call a function without the `@`",
            )
        self._refuse_recursion(macro, places, context)
        body = self._body(macro.declaration.key, context.calling)
        if body is None:
            raise _Broken
        values = self._values(call, macro, pieces, context, in_from=in_from)
        self._note_use(macro, body, places, context)
        filled: Pieces = []
        for piece in body.pieces:
            if piece.hole is None:
                filled.append(piece._replace(places=(*places, *piece.places)))
                context.grow(len(piece.text), call, places)
                continue
            value = values[piece.hole.parameter]
            put_in = put(value, piece, places)
            if put_in is None:
                said = f"`{value.parameter.name}` takes a name of one part here"
                label = _at_parameter(macro, piece.places)
                context.refuse(Code.MACRO_ARGUMENT, said, _joined(value.pieces), None, label)
            context.grow(len(text_of(put_in)), call, places)
            filled += put_in
        text = text_of(pieces)
        if stands_alone(text_of(filled), text[: call.span.start], text[call.span.end :]):
            return filled
        return [made("(", places), *filled, made(")", places)]

    def _values(
        self, call: Mention, macro: Macro, pieces: Pieces, context: _Text, *, in_from: bool
    ) -> Mapping[str, Value]:
        """The argument of each parameter, itself expanded."""
        declaration = macro.declaration
        matched = match_arguments(call, declaration)
        if isinstance(matched, Mismatch):
            declared = matched.parameter.span if matched.parameter else declaration.head
            label = _at_parameter(macro, places_of(macro.pieces, *declared))
            places = places_of(pieces, *matched.span)
            context.refuse(Code.MACRO_ARGUMENT, matched.message, places, matched.help, label)
        owner = context.owner.declaration if context.owner is not None else None
        found: dict[str, Value] = {}
        for parameter in declaration.parameters:
            written = matched[parameter.key]
            if written is None:
                assert parameter.default is not None
                given = cut(macro.pieces, *parameter.default)
                places = places_of(pieces, *call.span)
                default = [piece._replace(places=(*places, *piece.places)) for piece in given]
                found[parameter.key] = Value(default, parameter, free=True)
                continue
            given = _without_comments(cut(pieces, *written.value))
            as_table = parameter.kind == "table"
            given_text = text_of(given)
            expanded = self._expand(given, context, as_table=as_table)
            is_query = as_table and self._is_query_call(given_text)
            wrong = judge(expanded, parameter, owner, is_query=is_query)
            if wrong is not None:
                label = _at_parameter(macro, places_of(macro.pieces, *parameter.span))
                places = places_of(pieces, *written.value)
                context.refuse(Code.MACRO_ARGUMENT, wrong[0], places, wrong[1], label)
            found[parameter.key] = Value(expanded, parameter, free=in_from)
        return found

    def _is_query_call(self, text: str) -> bool:
        """Whether a text is one call, of a macro that stands for a query."""
        mentions = list(find_mentions(text))
        if len(mentions) != 1 or mentions[0].span != (0, len(text)):
            return False
        body = self._bodies.get(mentions[0].name.lower())
        return body is not None and body.is_query

    def _note_use(
        self, macro: Macro, body: MacroBody, places: tuple[Place, ...], context: _Text
    ) -> None:
        context.used.update(self._uses[macro.declaration.key])
        if context.owner is not None:
            context.tables.update(body.tables)
            return
        for name in sorted(body.tables.keys() & context.ctes):
            read = body.tables[name]
            context.refuse(
                Code.MACRO_CAPTURE,
                f"the macro `{macro.declaration.name}` reads the table `{name}`,"
                " and this query has a CTE of that name",
                places,
                "rename the CTE, which the macro would read in the table's place",
                Label(read.span, "the table that is meant", read.path),
            )

    def _refuse_recursion(self, macro: Macro, places: tuple[Place, ...], context: _Text) -> None:
        key = macro.declaration.key
        if key not in context.calling:
            return
        way = [*context.calling[context.calling.index(key) :], key]
        said = " -> ".join(f"`{self._macros[each].declaration.name}`" for each in way)
        context.refuse(
            Code.MACRO_RECURSION,
            f"the macro `{macro.declaration.name}` calls itself: {said}",
            places,
            "macros are expanded before anything runs, so nothing would end this",
        )


def _with_stack(work: Callable[[], T]) -> T:
    """The result of some work, on a larger stack if it needs one. Raises NestedTooDeeply."""
    try:
        return work()
    except RecursionError:
        return with_deep_stack(work)


def _without_comments(argument: Pieces) -> Pieces:
    """An argument without comments: one that ends a line would hide what the macro says next."""
    text = text_of(argument)
    return without_comments(argument, Span(0, len(text)), find_comments(text))


def _parameter(mention: Mention, pieces: Pieces, context: _Text) -> Pieces:
    """The hole of a parameter; in a text that is no macro's there are none."""
    if context.owner is None:
        return cut(pieces, *mention.span)
    places = places_of(pieces, *mention.span)
    declaration = context.owner.declaration
    parameter = declaration.parameter(mention.name)
    if parameter is None:
        names = [each.name for each in declaration.parameters]
        listed = ", ".join(f"`@{name}`" for name in names[:_SHOWN])
        context.refuse(
            Code.UNUSABLE_MACRO,
            f"the macro `{declaration.name}` has no parameter `{mention.name}`",
            places,
            suggestion(mention.name, names) or (f"it has {listed}" if listed else None),
        )
    text = stand_in(parameter.kind, parameter.key)
    return [Piece(text, places, exact=False, hole=Hole(parameter.key))]


def _tables_among(text: str, mentions: Sequence[Mention], context: _Text) -> set[int]:
    """Which calls stand where a table does. The CTEs of a text are noted."""
    done: list[str] = []
    at = 0
    for index, mention in enumerate(mentions):
        name = f"rocky_call_{index}" if mention.arguments is not None else "rocky_value"
        done += (text[at : mention.span.start], name)
        at = mention.span.end
    probe = parse_body("".join([*done, text[at:]]))
    if isinstance(probe, SyntaxProblem):
        before = [text[: mention.span.start] for mention in mentions]
        return {index for index, each in enumerate(before) if _IN_FROM.search(each)}
    tree = probe.parsed.tree
    context.ctes.update(cte.alias.lower() for cte in tree.find_all(exp.CTE))
    names = {table.name for table in tree.find_all(exp.Table)}
    return {index for index in range(len(mentions)) if f"rocky_call_{index}" in names}


def _at_parameter(macro: Macro, places: tuple[Place, ...]) -> Label:
    return Label(places[-1].span, f"in the macro `{macro.declaration.name}`", macro.path)


def _joined(pieces: Pieces) -> tuple[Place, ...]:
    return places_of(pieces, 0, len(text_of(pieces)))
