"""Bodies: what macros stand for, ready to be put in the place of calls.

In a body the macros that it calls are expanded, its own names are told apart from all others, and
the places of its parameters are holes.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Final, NamedTuple

from sqlglot import exp

from rocky.diagnostics.codes import Code
from rocky.diagnostics.diagnostic import Span
from rocky.language.macros.arguments import OPENING, parse_expression
from rocky.language.macros.declaration import Declaration, Kind
from rocky.language.macros.faults import MacroFault
from rocky.language.macros.own_names import NamedColumn, OwnNames, Rename, find_own_names
from rocky.language.macros.pieces import (
    Hole,
    OwnName,
    Piece,
    Pieces,
    Place,
    cut,
    made,
    places_of,
    text_of,
)
from rocky.language.names import NOT_OUTER, quote_if_needed
from rocky.language.syntax.parser import ParsedQuery, SyntaxProblem, parse_query

_QUERY: Final = re.compile(r"\s*(?:\(|(?:SELECT|WITH|FROM|VALUES|TABLE)\b)", re.IGNORECASE)
_BARE_FUNCTIONS: Final = frozenset(
    "current_date current_timestamp current_time current_user session_user user".split()
)
_STAND_INS: Final[dict[Kind, tuple[str, ...]]] = {"literal": ("1", "'1'"), "type": ("INT",)}


class MacroBody(NamedTuple):
    """What a macro stands for; `tables` are those it reads by a name of one part."""

    pieces: Pieces
    is_query: bool
    tables: Mapping[str, Place]


class Probe(NamedTuple):
    """A text as it was parsed; places in it are `shift` further on than in the text."""

    parsed: ParsedQuery
    shift: int
    is_query: bool


def stand_in(kind: Kind, name: str, choice: int = 0) -> str:
    """What stands for an argument of a kind while there is none."""
    choices = _STAND_INS.get(kind, (f"rocky_{name.lower()}",))
    return choices[min(choice, len(choices) - 1)]


def own_text(own: OwnName, suffix: str = "") -> str:
    """How an own name is written."""
    return quote_if_needed(f"{own.name}__{own.macro}{suffix}")


def parse_body(text: str) -> Probe | SyntaxProblem:
    """A text as one query or one expression."""
    if _QUERY.match(text) is not None:
        query = parse_query(text)
        if isinstance(query, ParsedQuery) and isinstance(query.tree, exp.Query):
            return Probe(query, 0, is_query=True)
        if isinstance(query, SyntaxProblem) and not text.lstrip().startswith("("):
            return query
    expression = parse_expression(text)
    if isinstance(expression, SyntaxProblem):
        start = min(max(expression.span.start - len(OPENING), 0), max(len(text) - 1, 0))
        end = min(max(expression.span.end - len(OPENING), start + 1), len(text))
        return replace(expression, span=Span(start, end))
    if not _is_one_expression(expression.tree):
        message = "a macro stands for one expression or one query"
        return SyntaxProblem(message, Span(0, len(text)))
    return Probe(expression, len(OPENING), is_query=False)


def _is_one_expression(tree: exp.Expr) -> bool:
    items = tree.args.get("expressions") or []
    clauses = {key for key, value in tree.args.items() if value}
    if len(items) != 1 or clauses - {"expressions", "kind"}:
        return False
    if isinstance(items[0], exp.Paren):
        return not isinstance(items[0].this, exp.Alias | exp.Star)
    return isinstance(items[0], exp.Subquery)


def finish_body(
    pieces: Pieces, declaration: Declaration, tables: Mapping[str, Place]
) -> MacroBody | MacroFault:
    """The body of a macro whose calls are expanded, or what is wrong with it.

    `tables` are those that the macros it calls read.
    """
    kinds = {each.key: each.kind for each in declaration.parameters}
    probe = parse_body(text_of(pieces))
    if isinstance(probe, SyntaxProblem):
        other = [_with_stand_in(piece, kinds, 1) for piece in pieces]
        again = parse_body(text_of(other))
        if isinstance(again, Probe):
            pieces, probe = other, again
    if isinstance(probe, SyntaxProblem):
        places = places_of(pieces, *probe.span)
        return MacroFault(Code.UNUSABLE_MACRO, probe.message, places, probe.help)
    found = _own_names(pieces, probe)
    holes = dict(_holes(pieces))
    free = next((each for each in found.columns if _is_free(each, holes)), None)
    if free is not None:
        return MacroFault(
            Code.UNUSABLE_MACRO,
            f"`{free.name}` is neither a parameter of the macro nor a column of a table in it",
            places_of(pieces, free.start, free.end),
            f"declare a parameter for it: `{declaration.name}(..., {free.name} EXPRESSION)`,"
            f" and write `@{free.name}`",
        )
    own = {
        name.lower(): places_of(pieces, start, end)[-1]
        for name, start, end in found.tables
        if start not in holes
    }
    edited = _edit(_with_depths(pieces, found, holes, kinds), found, declaration)
    return MacroBody(edited, probe.is_query, {**tables, **own})


def _with_stand_in(piece: Piece, kinds: Mapping[str, Kind], choice: int) -> Piece:
    if piece.hole is None:
        return piece
    name = piece.hole.parameter
    return piece._replace(text=stand_in(kinds[name], name, choice))


def _holes(pieces: Pieces) -> Iterator[tuple[int, Hole]]:
    """The holes by their offsets."""
    at = 0
    for piece in pieces:
        if piece.hole is not None:
            yield at, piece.hole
        at += len(piece.text)


def _own_names(pieces: Pieces, probe: Probe) -> OwnNames:
    """What the macro itself names, at places of its text."""
    shift = probe.shift
    mine: list[tuple[int, int]] = []
    at = 0
    for piece in pieces:
        if piece.own is None and len(piece.places) == 1:
            mine.append((at, at + len(piece.text)))
        at += len(piece.text)

    def is_own(offset: int) -> bool:
        return any(start <= offset - shift < end for start, end in mine)

    found = find_own_names(probe.parsed, 0 if probe.is_query else -1, is_own)
    return OwnNames(
        [each._replace(start=each.start - shift, end=each.end - shift) for each in found.renames],
        [each._replace(start=each.start - shift, end=each.end - shift) for each in found.columns],
        [(name, start - shift, end - shift) for name, start, end in found.tables],
    )


def _is_free(column: NamedColumn, holes: Mapping[int, Hole]) -> bool:
    """Whether only the caller could say what a column of the macro means."""
    if column.start in holes or column.depth > 0:
        return False
    return column.name not in _BARE_FUNCTIONS


def _with_depths(
    pieces: Pieces, found: OwnNames, holes: Mapping[int, Hole], kinds: Mapping[str, Kind]
) -> Pieces:
    """The pieces with all that is known of the holes."""
    depths = {each.start: each.depth for each in found.columns}
    text = text_of(pieces)
    made_pieces: Pieces = []
    at = 0
    for piece in pieces:
        start, at = at, at + len(piece.text)
        hole = holes.get(start) if piece.hole is not None else None
        if hole is not None:
            joined = kinds[hole.parameter] in ("column", "expression")
            after, before = text[at:].lstrip()[:1], text[:start].rstrip()[-1:]
            hole = Hole(
                hole.parameter, depths.get(start, 0), joined and after == ".", before == "."
            )
            piece = piece._replace(hole=hole)  # noqa: PLW2901 - the same piece, told more of
        made_pieces.append(piece)
    return made_pieces


def _edit(pieces: Pieces, found: OwnNames, declaration: Declaration) -> Pieces:
    """The pieces with own names in them, and with bans on the columns that the macro names."""
    holes = dict(_holes(pieces))
    banned = [Rename(each.start, each.end, "") for each in found.columns if each.depth == 1]
    edits = sorted({*found.renames, *(each for each in banned if each.start not in holes)})
    done: Pieces = []
    at = 0
    for edit in edits:
        done += cut(pieces, at, edit.start)
        at = edit.end
        if not edit.name:
            inside = cut(pieces, edit.start, edit.end)
            done += [piece._replace(ban=piece.ban | NOT_OUTER) for piece in inside]
            continue
        places = places_of(pieces, min(edit.start, max(edit.end - 1, 0)), edit.end)
        own = OwnName(declaration.key, _spelt(edit.name, declaration))
        if edit.alias:
            done.append(made(" AS ", places))
        done.append(Piece(own_text(own), places, exact=False, own=own))
    return [*done, *cut(pieces, at, len(text_of(pieces)))]


def _spelt(name: str, declaration: Declaration) -> str:
    """A name as the author knows it: that of a parameter for its stand-in."""
    for each in declaration.parameters:
        if name == stand_in(each.kind, each.key):
            return each.name
    return name
