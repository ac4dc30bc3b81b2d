"""Frames of window functions: ROWS and RANGE, their bounds, and which function takes which.

The grammar takes as a bound only what is constant before any name is looked up, so a call of a
function is refused even when it is constant. A RANGE bound is cast to the type it is measured
against before it is judged, unless that is a date or a timestamp.
"""

from fractions import Fraction
from typing import Any, Final

from sqlglot import exp

from rocky.diagnostics import Code
from rocky.language.binder.expr import Expr
from rocky.language.binder.scopes import Scope, bind_expression
from rocky.language.datatypes import types as t
from rocky.language.datatypes.casts import can_cast
from rocky.language.datatypes.durations import duration_of

_UNBOUNDED: Final = "UNBOUNDED"
_CURRENT: Final = "CURRENT ROW"
_RANKS: Final = frozenset("row_number rank dense_rank percent_rank cume_dist ntile".split())
_OFFSETS: Final = frozenset({"lag", "lead"})
_ARITHMETIC: Final = (exp.Add, exp.Sub, exp.Mul)
_OPERATORS: Final = (*_ARITHMETIC, exp.Mod, exp.BitwiseAnd, exp.BitwiseOr, exp.BitwiseXor)
_TIMES: Final = frozenset({"timestamp", "timestamp_ntz"})
_DISTANCES: Final = t.NUMERIC_KINDS | t.INTERVAL_KINDS


class _Bound:
    """One end of a frame: a word, or an expression with the side it lies on."""

    __slots__ = ("expr", "node", "side", "word")

    def __init__(self, written: Any, side: str | None, scope: Scope) -> None:
        self.word = written.upper() if isinstance(written, str) else None
        self.side = (side or "").upper()
        self.node = None if self.word else written
        self.expr = bind_expression(written, scope) if _is_constant(self.node, scope) else None

    @property
    def type(self) -> t.DataType:
        assert self.expr is not None
        # A string before PRECEDING is negated, and so a number by then.
        if self.expr.type.kind in t.STRING_KINDS and self.side == "PRECEDING":
            return t.DOUBLE
        return self.expr.type

    def distance(self) -> Any:
        """How far from the current row it lies, rows before it being negative; None if unknown."""
        value = _value(self.node)
        return None if value is None else (-value if self.side == "PRECEDING" else value)


def frame_problem(
    node: exp.Window, name: str, spec: Any, order: list[Any], ordering: list[Expr], scope: Scope
) -> Expr | None:
    """What Spark refuses about the frame `spec` of a call of `name`; None when it takes it."""
    if spec is None:
        return None
    kind = str(spec.args.get("kind") or "").upper()
    if kind not in ("ROWS", "RANGE") or spec.args.get("exclude") is not None:
        return _refuse(
            node,
            "Spark has neither GROUPS frames nor EXCLUDE",
            "PARSE_SYNTAX_ERROR",
            scope,
            Code.SYNTAX_ERROR,
        )
    lower = _Bound(spec.args["start"], spec.args.get("start_side"), scope)
    upper = _Bound(spec.args.get("end") or _CURRENT, spec.args.get("end_side"), scope)
    for bound in (lower, upper):
        if bound.node is not None and bound.expr is None:
            return _refuse(
                bound.node,
                "the bound of a frame must be a literal",
                "_LEGACY_ERROR_TEMP_0064",
                scope,
                help="write a number or an interval; no function is called there",
            )
        if bound.expr is not None and bound.expr.type is t.UNKNOWN:
            return None
    if name in _RANKS or name in _OFFSETS:
        return _own_frame(node, name, kind, lower, upper, scope)
    return _bounds_problem(node, kind, lower, upper, order, ordering, scope)


def is_whole(order: list[Any], spec: Any) -> bool:
    """Whether a window is the whole partition, by having no order and no frame but that one."""
    if order or spec is None:
        return not order
    args = spec.args
    return (
        str(args.get("kind")).upper() == "ROWS"
        and str(args.get("start")).upper() == str(args.get("end")).upper() == _UNBOUNDED
    )


def _own_frame(
    node: exp.Window, name: str, kind: str, lower: _Bound, upper: _Bound, scope: Scope
) -> Expr | None:
    """Ranks and neighbours have one frame, and only that may be written out."""
    if name in _OFFSETS:
        own = kind == "ROWS" and _is_offset(node, name, lower) and _is_offset(node, name, upper)
    else:
        own = kind == ("RANGE" if name == "cume_dist" else "ROWS") and (
            lower.word,
            lower.side,
            upper.word,
        ) == (_UNBOUNDED, "PRECEDING", _CURRENT)
    if own:
        return None
    return _refuse(
        node,
        f"`{name}` has a frame of its own and takes no other",
        "_LEGACY_ERROR_TEMP_1035" if name in _OFFSETS else "_LEGACY_ERROR_TEMP_1036",
        scope,
        Code.INVALID_AGGREGATION,
        help="leave the frame out",
    )


def _is_offset(node: exp.Window, name: str, bound: _Bound) -> bool:
    """Whether a bound is the row `lag` or `lead` reads, written as `-1 FOLLOWING`."""
    call = node.args["this"]
    while call.__class__ in (exp.IgnoreNulls, exp.RespectNulls):
        call = call.args["this"]
    arguments = call.args.get("expressions") or []
    offset = _value(arguments[1]) if len(arguments) > 1 else 1
    plain = bound.node is not None and bound.node.__class__ in (exp.Literal, exp.Neg)
    if not plain or offset is None or bound.side != "FOLLOWING":
        return False
    return bool(_value(bound.node) == (offset if name == "lead" else -offset))


def _bounds_problem(
    node: exp.Window,
    kind: str,
    lower: _Bound,
    upper: _Bound,
    order: list[Any],
    ordering: list[Expr],
    scope: Scope,
) -> Expr | None:
    """The checks of Spark's frame, then those of the window around it, in its order."""
    found: list[t.DataType] = []
    for bound in (lower, upper):
        if bound.expr is not None:
            if bound.type.kind == "boolean" and bound.side == "PRECEDING":
                message = f"a frame cannot be bounded by `{bound.type}`"
                return _refuse(node, message, "DATATYPE_MISMATCH.UNEXPECTED_INPUT_TYPE", scope)
            key = ordering[0].type if kind == "RANGE" and len(ordering) == 1 else None
            if key is t.UNKNOWN:
                return None
            measured = bound.type if key is None else _measured(bound.type, key)
            if not (measured is t.INT if kind == "ROWS" else measured.kind in _DISTANCES):
                message = (
                    f"a ROWS frame is bounded by `int`, not `{measured}`"
                    if kind == "ROWS"
                    else f"a RANGE frame cannot measure distances in `{measured}`"
                )
                unaccepted = "DATATYPE_MISMATCH.SPECIFIED_WINDOW_FRAME_UNACCEPTED_TYPE"
                return _refuse(node, message, unaccepted, scope, Code.TYPE_ERROR)
            found.append(measured)
    condition = _order_of_bounds(lower, upper, found)
    if condition is None and kind == "RANGE":
        condition = _range_problem(lower, upper, found, order, ordering)
    if condition is None:
        return None
    return _refuse(node, _MESSAGES[condition], f"DATATYPE_MISMATCH.{condition}", scope)


_MESSAGES: Final = {
    "SPECIFIED_WINDOW_FRAME_INVALID_BOUND": (
        "a frame starts neither at UNBOUNDED FOLLOWING nor ends at UNBOUNDED PRECEDING"
    ),
    "SPECIFIED_WINDOW_FRAME_DIFF_TYPES": "the bounds of a frame have two types",
    "SPECIFIED_WINDOW_FRAME_WRONG_COMPARISON": "a frame cannot end before it starts",
    "RANGE_FRAME_WITHOUT_ORDER": "a RANGE frame needs an ORDER BY",
    "RANGE_FRAME_MULTI_ORDER": "a RANGE frame with bounds takes one ordering key",
    "RANGE_FRAME_INVALID_TYPE": "the bound of a RANGE frame does not fit what it is ordered by",
}


def _order_of_bounds(lower: _Bound, upper: _Bound, found: list[t.DataType]) -> str | None:
    if (lower.word, lower.side) == (_UNBOUNDED, "FOLLOWING") or (upper.word, upper.side) == (
        _UNBOUNDED,
        "PRECEDING",
    ):
        return "SPECIFIED_WINDOW_FRAME_INVALID_BOUND"
    if len(found) < 2:
        return None
    if found[0] is not found[1]:
        return "SPECIFIED_WINDOW_FRAME_DIFF_TYPES"
    first, last = lower.distance(), upper.distance()
    if found[0].kind in t.INTEGRAL_KINDS and first is not None and last is not None:
        first, last = int(first), int(last)
    if first is not None and last is not None and first > last:
        return "SPECIFIED_WINDOW_FRAME_WRONG_COMPARISON"
    return None


def _range_problem(
    lower: _Bound,
    upper: _Bound,
    found: list[t.DataType],
    order: list[Any],
    ordering: list[Expr],
) -> str | None:
    if not order and (lower.word, upper.word) != (_UNBOUNDED, _UNBOUNDED):
        return "RANGE_FRAME_WITHOUT_ORDER"
    if not found:
        return None
    if len(order) > 1:
        return "RANGE_FRAME_MULTI_ORDER"
    return None if _fits(ordering[0].type, found[0]) else "RANGE_FRAME_INVALID_TYPE"


def _measured(bound: t.DataType, key: t.DataType) -> t.DataType:
    """The type of a bound once it is cast to what it is measured against."""
    if key.kind == "date" or key.kind in _TIMES or not can_cast(bound, key):
        return bound
    return key


def _fits(key: t.DataType, bound: t.DataType) -> bool:
    if key.kind == "date":
        return bound is t.INT or bound.kind == "interval_ym" or bound is _WHOLE_DAYS
    return bound.kind in t.INTERVAL_KINDS if key.kind in _TIMES else key is bound


_WHOLE_DAYS: Final = t.interval("day", "day")


def _is_constant(node: Any, scope: Scope) -> bool:
    """Whether the grammar alone sees that a bound is constant."""
    kind = node.__class__
    if kind in (exp.Literal, exp.Null, exp.Boolean, exp.Interval):
        return True
    if kind in (exp.Paren, exp.Neg, exp.Cast):
        return _is_constant(node.args["this"], scope)
    if kind is exp.Case:
        return all(_is_constant(child, scope) for child in node.iter_expressions())
    if kind is exp.If:
        return all(_is_constant(node.args[part], scope) for part in ("this", "true"))
    if kind not in _OPERATORS:
        return False
    parts = (node.args["this"], node.args["expression"])
    if not all(_is_constant(part, scope) for part in parts):
        return False
    types = [bind_expression(part, scope).type for part in parts]
    # `INTERVAL 1 DAY 2 HOURS` is read as a sum; of other sums both sides have one type.
    return types[0] is types[1] or all(each.kind in t.INTERVAL_KINDS for each in types)


def _value(node: Any) -> Any:
    """The number a bound comes to, months or microseconds for an interval; None if unknown."""
    kind = node.__class__
    if kind is exp.Paren:
        return _value(node.args["this"])
    if kind is exp.Neg:
        inner = _value(node.args["this"])
        return None if inner is None else -inner
    if kind in _ARITHMETIC:
        left, right = _value(node.args["this"]), _value(node.args["expression"])
        if left is None or right is None:
            return None
        return (
            left + right if kind is exp.Add else left - right if kind is exp.Sub else left * right
        )
    if kind is exp.Interval:
        return _interval_value(node)
    if kind is exp.Literal and not node.args["is_string"]:
        text = node.args["this"]
        return Fraction(text) if text.replace(".", "", 1).isdigit() else None
    return None


def _interval_value(node: exp.Interval) -> Any:
    unit, amount = node.args.get("unit"), node.args.get("this")
    text = str(amount.name).strip() if amount is not None else ""
    if unit is None or unit.__class__ is exp.IntervalSpan or not text.lstrip("+-").isdigit():
        return None
    found = duration_of(int(text), unit.name)
    return None if found is None else found.months or found.whole_micros


def _refuse(
    place: Any,
    message: str,
    condition: str,
    scope: Scope,
    code: Code = Code.INVALID_CLAUSE,
    *,
    help: str | None = None,  # noqa: A002 - the word of the page
) -> Expr:
    return scope.binding.error(code, message, place, condition, help=help)
