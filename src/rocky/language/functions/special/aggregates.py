"""Aggregates: over rows, so nearly all are null for no rows; counts and collections never are.

Sums of decimals gain ten digits and averages four of each; intervals stay intervals, and an
average of them always spans the whole family.
"""

from collections.abc import Sequence

from rocky.language.datatypes import types as t
from rocky.language.datatypes.operators import is_orderable
from rocky.language.datatypes.parts import parts_of
from rocky.language.datatypes.types import DataType
from rocky.language.functions import operand as f
from rocky.language.functions.operand import NO_VALUE, Operand, Refusal, Rule, Typing

SUMMABLE = f.one_of(f.NUMERIC, f.YEAR_MONTH, f.DAY_TIME)
WHOLE_YEAR_MONTH = t.interval("year", "month")
WHOLE_DAY_TIME = t.interval("day", "second")
_SUMMED: dict[DataType, Typing] = {}
_AVERAGED: dict[DataType, Typing] = {}


def type_sum(name: str, args: Sequence[Operand]) -> Typing:
    if len(args) == 1:
        known = _SUMMED.get(args[0].type)
        if known is not None:
            return known
    fitted = _fit_number(name, args)
    result = _SUMMED[args[0].type] = (_sum_of(fitted), True)
    return result


def _sum_of(found: DataType) -> DataType:
    if isinstance(found, t.DecimalType):
        return t.decimal(min(found.precision + 10, t.MAX_PRECISION), found.scale)
    if found.kind in t.INTEGRAL_KINDS:
        return t.BIGINT
    return found if found.kind in ("interval_ym", "interval_dt", "unknown") else t.DOUBLE


def type_avg(name: str, args: Sequence[Operand]) -> Typing:
    if len(args) == 1:
        known = _AVERAGED.get(args[0].type)
        if known is not None:
            return known
    fitted = _fit_number(name, args)
    result = _AVERAGED[args[0].type] = (_average_of(fitted), True)
    return result


def _average_of(found: DataType) -> DataType:
    if isinstance(found, t.DecimalType):
        return t.decimal(
            min(found.precision + 4, t.MAX_PRECISION), min(found.scale + 4, t.MAX_PRECISION)
        )
    if found.kind == "interval_ym":
        return WHOLE_YEAR_MONTH
    if found.kind == "interval_dt":
        return WHOLE_DAY_TIME
    return t.UNKNOWN if found is t.UNKNOWN else t.DOUBLE


def _fit_number(name: str, args: Sequence[Operand]) -> DataType:
    # Spark sums timestamps as seconds, for the sake of old Hive queries.
    if len(args) == 1 and args[0].type is t.TIMESTAMP:
        return t.DOUBLE
    return f.fit(name, args, (SUMMABLE,))[0].type


def type_extreme(name: str, args: Sequence[Operand]) -> Typing:
    """`min` and `max`."""
    f.take(name, args, 1)
    found = args[0].type
    if not is_orderable(found):
        raise f.unordered(name, found, 0)
    return found, True


def type_first(name: str, args: Sequence[Operand]) -> Typing:
    """`first`, `last`, `any_value`: the optional flag must be spelt out as true or false."""
    f.take(name, args, 1, 2)
    if len(args) == 2 and not isinstance(args[1].value, bool) and args[1].type is not t.UNKNOWN:
        raise Refusal(
            "_LEGACY_ERROR_TEMP_1210",
            f"argument 2 of `{name}` must be `true` or `false`",
            1,
        )
    return args[0].type, True


def type_extreme_by(name: str, args: Sequence[Operand]) -> Typing:
    """`max_by` and `min_by`: the value where the second argument is largest or smallest."""
    f.take(name, args, 2)
    if not is_orderable(args[1].type):
        raise f.unordered(name, args[1].type, 1)
    return args[0].type, True


def type_mode(name: str, args: Sequence[Operand]) -> Typing:
    if not args:
        raise f.within_group_missing(name)
    f.take(name, args, 1, 2)
    if len(args) == 2 and args[1].type is not t.UNKNOWN:
        flag = args[1]
        if not flag.foldable:
            raise Refusal("NON_FOLDABLE_ARGUMENT", f"argument 2 of `{name}` must be a constant", 1)
        if flag.value is None:
            raise f.unexpected_null(name, 1)
        if flag.type is not t.BOOLEAN:
            raise Refusal(
                "UNEXPECTED_INPUT_TYPE",
                f"argument 2 of `{name}` must be `boolean`, but it is `{flag.type}`",
                1,
            )
    return args[0].type, True


def type_count(name: str, args: Sequence[Operand]) -> Typing:
    if not args:
        raise Refusal(
            "WRONG_NUM_ARGS.WITH_SUGGESTION", f"`{name}` takes 1 or more arguments, not 0"
        )
    return t.BIGINT, False


def type_collect(name: str, args: Sequence[Operand]) -> Typing:
    """`collect_list` and its like leave nulls out, so the elements are never null."""
    f.take(name, args, 1)
    if name == "collect_set" and _holds_map(args[0].type):
        raise Refusal(
            "DATATYPE_MISMATCH.UNSUPPORTED_INPUT_TYPE",
            f"`{name}` cannot collect `{args[0].type}`: maps have no equality",
            0,
        )
    return t.array(args[0].type, False), False


def _holds_map(found: DataType) -> bool:
    return any(
        part.kind == "map" or (isinstance(part, t.StringType) and part.collation != "UTF8_BINARY")
        for part in parts_of(found)
    )


_TEXT_OR_BYTES = f.one_of(f.STRING, f.BINARY)


def type_listagg(name: str, args: Sequence[Operand]) -> Typing:
    fitted = f.fit(name, args, (_TEXT_OR_BYTES, _TEXT_OR_BYTES), optional=1)
    found = fitted[0].type
    if len(args) == 1 or args[1].type.kind in ("void", "unknown"):
        return found, True
    if not args[1].foldable:
        raise f.not_constant(name, 1, "the delimiter")
    if found is not t.UNKNOWN and fitted[1].type.kind != found.kind:
        raise Refusal(
            "DATATYPE_MISMATCH.DATA_DIFF_TYPES",
            f"the delimiter of `{name}` must be `{found}`, but it is `{fitted[1].type}`",
            1,
        )
    return found, True


def _fixed(result: DataType, nullable: bool, *parameters: f.Family) -> Rule:  # noqa: FBT001 - read as a table
    def rule(name: str, args: Sequence[Operand]) -> Typing:
        f.fit(name, args, parameters)
        return result, nullable

    return rule


def type_bits(name: str, args: Sequence[Operand]) -> Typing:
    """`bit_and`, `bit_or`, `bit_xor` over integers of one width."""
    fitted = f.fit(name, args, (f.INTEGRAL,))
    return fitted[0].type, True


def type_approx_count_distinct(name: str, args: Sequence[Operand]) -> Typing:
    f.take(name, args, 1, 2)
    if len(args) == 2 and args[1].type is not t.UNKNOWN:
        deviation = args[1]
        literal = deviation.value is not NO_VALUE and deviation.value is not None
        if not literal or deviation.type.kind not in ("double", "decimal"):
            raise Refusal(
                "_LEGACY_ERROR_TEMP_1104",
                f"argument 2 of `{name}` must be a fraction such as 0.05",
                1,
            )
    return t.BIGINT, False


def type_counted(name: str, args: Sequence[Operand]) -> Typing:
    f.fit(name, args, (f.BOOLEAN,))
    return t.BIGINT, False


_BOOLEAN = _fixed(t.BOOLEAN, True, f.BOOLEAN)

AGGREGATES: dict[str, Rule] = f.by_name(
    {
        type_sum: "sum try_sum",
        type_avg: "avg mean try_avg",
        type_extreme: "min max",
        type_first: "first first_value last last_value any_value",
        type_extreme_by: "max_by min_by",
        type_mode: "mode",
        type_count: "count",
        type_counted: "count_if",
        type_collect: "collect_list collect_set array_agg",
        type_listagg: "listagg string_agg",
        _BOOLEAN: "bool_and bool_or every some any",
        type_bits: "bit_and bit_or bit_xor",
        type_approx_count_distinct: "approx_count_distinct",
    }
)
