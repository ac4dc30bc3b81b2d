"""Window functions: neighbours and ranks, and the time windows rows are grouped by.

`lag` and `lead` are null past the edge unless a default that cannot be null says otherwise;
the default is cast to the column's type, never the other way round.
"""

from collections.abc import Sequence
from typing import Final

from rocky.language.datatypes import types as t
from rocky.language.datatypes.casts import can_cast
from rocky.language.datatypes.durations import parse_duration
from rocky.language.datatypes.types import DataType
from rocky.language.functions import operand as f
from rocky.language.functions.operand import NO_VALUE, Operand, Refusal, Rule, Typing

_OF_TYPE: dict[DataType, f.Family] = {}


def _family_of(found: DataType) -> f.Family:
    family = _OF_TYPE.get(found)
    if family is None:
        family = _OF_TYPE[found] = f.exactly(found)
    return family


def type_offset(name: str, args: Sequence[Operand]) -> Typing:
    """`lag` and `lead`."""
    if not args:
        # Odd, but Spark takes it: a column of nothing.
        return t.NULL, True
    if len(args) > 4:
        raise f.wrong_count(name, "1 to 4", len(args))
    _check_nulls(name, args, 3)
    value = args[0]
    if len(args) > 1:
        _check_offset(name, args[1])
    if len(args) < 3:
        return value.type, True
    default = args[2]
    if default.type is value.type or default.type is t.NULL or value.type is t.UNKNOWN:
        return value.type, value.nullable or default.nullable
    target = _family_of(value.type).fit(default.type)
    if target is None:
        raise f.unexpected_type(name, 2, f"`{value.type}`", default.type)
    if not can_cast(default.type, target):
        raise f.uncastable(name, 2, default.type, target)
    return value.type, value.nullable or f.cast_operand(default, target).nullable


def _check_nulls(name: str, args: Sequence[Operand], index: int) -> None:
    """An argument instead of IGNORE NULLS: true or false, written out."""
    if len(args) > index and not isinstance(args[index].value, bool):
        raise Refusal(
            "INVALID_PARAMETER_VALUE.BOOLEAN",
            f"argument {index + 1} of `{name}` must be `true` or `false`",
            index,
        )


def _check_offset(name: str, offset: Operand) -> None:
    if offset.type is t.UNKNOWN or (offset.type is t.INT and offset.foldable):
        return
    if not offset.foldable:
        raise f.not_constant(name, 1, "the offset")
    if name == "lag" and offset.type.kind in t.STRING_KINDS:
        condition = "FAILED_FUNCTION_CALL"
    else:
        condition = "_LEGACY_ERROR_TEMP_1035"
    raise Refusal(condition, f"argument 2 of `{name}`, the offset, must be an `int` literal", 1)


def _out_of_range(name: str, index: int, what: str) -> Refusal:
    return Refusal(
        "DATATYPE_MISMATCH.VALUE_OUT_OF_RANGE",
        f"argument {index + 1} of `{name}`, {what}, must be at least 1",
        index,
    )


def type_nth_value(name: str, args: Sequence[Operand]) -> Typing:
    if not 2 <= len(args) <= 3:
        raise f.wrong_count(name, "2", len(args))
    f.fit(name, args[:2], (f.ANY, f.INT))
    _check_nulls(name, args, 2)
    place = args[1]
    if isinstance(place.value, str) and not place.value.strip().lstrip("+-").isdigit():
        raise Refusal(
            "CAST_INVALID_INPUT", f"argument 2 of `{name}` must be a number, not a text", 1
        )
    if place.type is not t.UNKNOWN:
        if not place.foldable:
            raise f.not_constant(name, 1, "the place")
        if place.value is None or (isinstance(place.value, int) and place.value < 1):
            raise _out_of_range(name, 1, "the place")
    return args[0].type, True


def type_ntile(name: str, args: Sequence[Operand]) -> Typing:
    if len(args) > 1:
        raise f.wrong_count(name, "1", len(args))
    if args and args[0].type is not t.UNKNOWN:
        buckets = args[0]
        if not buckets.foldable:
            raise f.not_constant(name, 0, "the number of buckets")
        if buckets.type is not t.INT:
            raise f.unexpected_type(name, 0, "`int`", buckets.type)
        if buckets.value is not NO_VALUE and buckets.value < 1:
            raise _out_of_range(name, 0, "the number of buckets")
    return t.INT, False


def _ranked(result: DataType, *, arguments: bool) -> Rule:
    def rule(name: str, args: Sequence[Operand]) -> Typing:
        # Ranks tolerate arguments, for the sake of WITHIN GROUP elsewhere, and ignore them.
        if args and not arguments:
            raise f.wrong_count(name, "no", len(args))
        return result, False

    return rule


# -- time windows -----------------------------------------------------------------------------


def _window_of(moment: DataType) -> DataType:
    return t.struct((t.StructField("start", moment, True), t.StructField("end", moment, True)))


_WINDOWS: Final = frozenset({_window_of(t.TIMESTAMP), _window_of(t.TIMESTAMP_NTZ)})


_MOMENTS: Final = frozenset({"timestamp", "timestamp_ntz"})
_NOT_A_WINDOW: Final = "_LEGACY_ERROR_TEMP_3101"


def _length(name: str, args: Sequence[Operand], index: int) -> int | None:
    """A length in microseconds, from a text or a number; None when it cannot be known."""
    arg = args[index]
    if arg.type is t.UNKNOWN:
        return None
    value = arg.value
    if isinstance(value, int) and arg.type.kind in ("int", "bigint"):
        return value
    if not isinstance(value, str):
        raise Refusal(
            "_LEGACY_ERROR_TEMP_1207",
            f"argument {index + 1} of `{name}` must be a literal such as '5 minutes'",
            index,
        )
    found = parse_duration(value)
    if found is None:
        raise Refusal(
            "CANNOT_PARSE_INTERVAL",
            f"argument {index + 1} of `{name}`, `{value}`, is not a duration such as '5 minutes'",
            index,
        )
    if found.months:
        raise Refusal(
            "_LEGACY_ERROR_TEMP_3231",
            f"argument {index + 1} of `{name}`: a month has no fixed length",
            index,
        )
    return found.whole_micros


def _moment(name: str, args: Sequence[Operand]) -> DataType:
    """The type of the window over a time, or over a window that was computed before."""
    found = args[0].type
    if found in _WINDOWS:
        return found
    if isinstance(found, t.StructType):
        kinds = {field.type.kind for field in found.fields}
        if len(found.fields) == 2 and len(kinds) == 1 and kinds <= _MOMENTS:
            raise Refusal(_NOT_A_WINDOW, f"argument 1 of `{name}` is no time window", 0)
    return _window_of(f.fit(name, args[:1], (f.ANY_TIMESTAMP,))[0].type)


def type_window(name: str, args: Sequence[Operand]) -> Typing:
    """`window(time, duration[, slide[, start]])`: the window a row falls into."""
    f.take(name, args, 2, 4)
    lengths = [_length(name, args, index) for index in range(1, len(args))]
    found = _moment(name, args)
    duration = lengths[0]
    slide = lengths[1] if len(lengths) > 1 else duration
    start = lengths[2] if len(lengths) > 2 else 0
    if duration is None or slide is None or start is None:
        return found, True
    for index, length in ((1, duration), (2, slide)):
        if length <= 0:
            raise Refusal(
                "DATATYPE_MISMATCH.VALUE_OUT_OF_RANGE",
                f"the duration and the slide of `{name}` must be above 0",
                min(index, len(args) - 1),
            )
    if slide > duration or abs(start) >= slide:
        raise Refusal(
            "DATATYPE_MISMATCH.PARAMETER_CONSTRAINT_VIOLATION",
            f"`{name}` slides by its duration at most, and starts off by less than it slides",
            len(args) - 1,
        )
    # Windows that slide may hold a row several times, and Spark then expects nulls among them.
    return found, slide != duration


def type_session_window(name: str, args: Sequence[Operand]) -> Typing:
    f.take(name, args, 2)
    gap = args[1].type
    if gap.kind not in t.STRING_KINDS and gap.kind not in ("interval", "void", "unknown"):
        raise Refusal(
            "_LEGACY_ERROR_TEMP_1040",
            f"the gap of `{name}` is a text such as '5 minutes', not `{gap}`",
            1,
        )
    return _moment(name, args), False


def type_window_time(name: str, args: Sequence[Operand]) -> Typing:
    f.take(name, args, 1)
    found = args[0].type
    if found is t.UNKNOWN:
        return t.UNKNOWN, True
    if not isinstance(found, t.StructType):
        raise f.unexpected_type(name, 0, "a struct", found)
    if found not in _WINDOWS:
        raise Refusal(_NOT_A_WINDOW, f"argument 1 of `{name}` is no time window", 0)
    return next((field.type for field in found.fields if field.name == "end"), t.TIMESTAMP), True


RANKS: dict[str, Rule] = {
    "lag": type_offset,
    "lead": type_offset,
    "nth_value": type_nth_value,
    "ntile": type_ntile,
    "row_number": _ranked(t.INT, arguments=False),
    "rank": _ranked(t.INT, arguments=True),
    "dense_rank": _ranked(t.INT, arguments=True),
    "percent_rank": _ranked(t.DOUBLE, arguments=True),
    "cume_dist": _ranked(t.DOUBLE, arguments=False),
}
"""Functions that need an OVER clause."""

WINDOWS: dict[str, Rule] = {
    **RANKS,
    "window": type_window,
    "session_window": type_session_window,
    "window_time": type_window_time,
}
