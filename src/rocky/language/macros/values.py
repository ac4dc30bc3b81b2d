"""Values: which argument of a call is that of which parameter, and how it is put into a body."""

from collections.abc import Mapping
from typing import Final, NamedTuple

from rocky.diagnostics.diagnostic import Span
from rocky.diagnostics.suggestion import suggestion
from rocky.language.macros.arguments import columns_in, describe_kind, fits, is_dotted, is_unit
from rocky.language.macros.calls import Mention, WrittenArgument
from rocky.language.macros.declaration import Declaration, Kind, Parameter
from rocky.language.macros.pieces import (
    Hole,
    Piece,
    Pieces,
    Place,
    cut,
    made,
    text_of,
)
from rocky.language.names import NOT_INNERMOST, NOT_OUTER

_TAKES: Final[Mapping[Kind, frozenset[str]]] = {
    "column": frozenset({"column"}),
    "expression": frozenset({"column", "expression", "literal"}),
    "literal": frozenset({"literal"}),
    "table": frozenset({"table"}),
    "type": frozenset({"type"}),
}
"""Which parameters can be passed on to one of a kind."""


class Value(NamedTuple):
    """The argument of a parameter; `free` if columns in it mean what they mean in the body."""

    pieces: Pieces
    parameter: Parameter
    free: bool


class Mismatch(NamedTuple):
    """Why the arguments of a call are not those that its macro takes."""

    message: str
    span: Span
    help: str | None = None
    parameter: Parameter | None = None


Matched = dict[str, WrittenArgument | None]
"""The argument of each parameter; None where its default is meant."""


def match_arguments(call: Mention, declaration: Declaration) -> Matched | Mismatch:
    """The arguments of a call by their parameters."""
    if not call.closed:
        return Mismatch(f"the call of `{call.name}` is not closed", call.span, "add a `)`")
    found: Matched = {}
    for index, argument in enumerate(call.arguments or ()):
        parameter = _parameter(index, argument, call, declaration)
        if isinstance(parameter, Mismatch):
            return parameter
        if parameter.key in found:
            said = f"the parameter `{parameter.name}` is given twice"
            return Mismatch(said, argument.span, None, parameter)
        if argument.value.start == argument.value.end:
            span = argument.span if argument.span.end > argument.span.start else call.span
            said = f"the argument for `{parameter.name}` is empty"
            return Mismatch(said, span, f"it takes {describe_kind(parameter.kind)}", parameter)
        found[parameter.key] = argument
    for parameter in declaration.parameters:
        if parameter.key not in found and parameter.default is None:
            said = f"the parameter `{parameter.name}` of `{declaration.name}` has no argument"
            return Mismatch(said, call.span, f"write `{declaration.signature}`", parameter)
        found.setdefault(parameter.key, None)
    return found


def _parameter(
    index: int, argument: WrittenArgument, call: Mention, declaration: Declaration
) -> Parameter | Mismatch:
    parameters = declaration.parameters
    if argument.name is not None:
        found = declaration.parameter(argument.name)
        if found is not None:
            return found
        return Mismatch(
            f"the macro `{declaration.name}` has no parameter `{argument.name}`",
            argument.span,
            suggestion(argument.name, [each.name for each in parameters])
            or f"write `{declaration.signature}`",
        )
    if any(each.name is not None for each in (call.arguments or ())[:index]):
        said = "an argument without a name stands after one with a name"
        return Mismatch(said, argument.span, "name it too, or put it first")
    if index >= len(parameters):
        takes = f"{len(parameters)} argument{'' if len(parameters) == 1 else 's'}"
        said = f"the macro `{declaration.name}` takes {takes}, and this is one more"
        return Mismatch(said, argument.span, f"write `{declaration.signature}`")
    return parameters[index]


def judge(
    pieces: Pieces, parameter: Parameter, owner: Declaration | None, *, is_query: bool
) -> tuple[str, str] | None:
    """Why an argument is not one of its parameter's kind, and what is; None if it fits.

    `owner` is the macro in whose body the call stands.
    """
    hole = pieces[0].hole if len(pieces) == 1 else None
    passed = owner.parameter(hole.parameter) if hole is not None and owner is not None else None
    kind = _noun(parameter.kind)
    told = f"that is {describe_kind(parameter.kind)}"
    if passed is not None:
        if passed.kind in _TAKES[parameter.kind]:
            return None
        other = _noun(passed.kind)
        return f"`{parameter.name}` takes {kind}, and `@{passed.name}` is {other}", told
    if fits(parameter.kind, text_of(pieces), is_query=is_query):
        return None
    return f"`{parameter.name}` takes {kind}, and this is none", told


def _noun(kind: Kind) -> str:
    return f"{'an' if kind == 'expression' else 'a'} {kind.upper()}"


def put(value: Value, at: Piece, places: tuple[Place, ...]) -> Pieces | None:
    """The argument as it stands in a body; None for a dotted name where only one part can be.

    `at` is the hole that it fills, and `places` are those of the call.
    """
    hole, kind = at.hole or Hole(value.parameter.key), value.parameter.kind
    through = (*places, *at.places)
    pieces = [piece._replace(through=through) for piece in value.pieces]
    text = text_of(pieces)
    if hole.dotted and is_dotted(text):
        return None
    if kind == "expression" and hole.depth and not value.free:
        pieces = _banned(pieces, text, hole.depth)
    if kind in ("type", "table") or (is_unit(text) and not hole.enclosed):
        return pieces
    return [made("(", places), *pieces, made(")", places)]


def _banned(pieces: Pieces, text: str, depth: int) -> Pieces:
    """The columns in an argument are the caller's, also inside of a query of the macro."""
    bans: dict[tuple[int, int], int] = {}
    for column in columns_in(text):
        if column.depth == 0:
            ban = NOT_INNERMOST | (NOT_OUTER if depth > 1 else 0)
        elif column.depth == 1:
            ban = NOT_OUTER
        else:
            continue
        bans[column.start, column.end] = ban
    done: Pieces = []
    at = 0
    for (start, end), ban in sorted(bans.items()):
        done += cut(pieces, at, start)
        inside = cut(pieces, start, end)
        done += [piece._replace(ban=piece.ban | ban) for piece in inside]
        at = end
    return [*done, *cut(pieces, at, len(text))]
