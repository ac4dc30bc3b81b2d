"""Columns of pandas and Arrow functions, held to their types where Spark would change values.

Spark hands pandas whole numbers beside nulls as `float64`, in which those above 2^53 become others;
it cuts fractions off inside lists, and takes any number for a boolean. What the functions here
refer to is in their closures: workers know Spark and not Rocky.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import wraps
from math import isfinite
from typing import Any

from pyspark.sql import types as s


def series_held_to_type(
    code: Any, name: str, bigints: Sequence[str | None], kind: s.DataType | None
) -> Any:
    """The code of a pandas function as one that raises TypeError for values that would change.

    `bigints` has the names of the parameters that are `bigint`, at their places; `kind` is the type
    of the column it gives, and None where it gives no column.
    """
    refuse_inputs = _input_check(name, bigints)
    refuse_output = None if kind is None else _output_check(name, kind)

    @wraps(code)
    def held(*arguments: Any, **named: Any) -> Any:
        refuse_inputs(arguments, named)
        made = code(*arguments, **named)
        if refuse_output is not None:
            refuse_output(made)
        return made

    return held


def _input_check(
    name: str, bigints: Sequence[str | None]
) -> Callable[[Sequence[Any], Mapping[str, Any]], None]:
    def refuse(arguments: Sequence[Any], named: Mapping[str, Any]) -> None:
        given = [(each, found) for each, found in zip(bigints, arguments, strict=False) if each]
        given += [(each, named[each]) for each in bigints if each and each in named]
        for each, series in given:
            is_float = getattr(getattr(series, "dtype", None), "kind", "") == "f"
            if is_float and (series.abs() >= 2.0**53).any():
                raise TypeError(
                    f"function `{name}` is given a `{each}` with nulls and numbers above 2^53,"
                    " which pandas holds as floats and would change: declare it as"
                    " `kind = 'arrow'`, or give it no nulls"
                )

    return refuse


def _output_check(name: str, kind: s.DataType) -> Callable[[Any], None] | None:
    whole = (s.ByteType, s.ShortType, s.IntegerType, s.LongType)
    shown = kind.simpleString()

    def is_cut(value: Any, kind: s.DataType) -> bool:
        """Whether a value inside a list or a map is a fraction where a whole number is declared."""
        if isinstance(kind, whole):
            return isinstance(value, float) and isfinite(value) and not value.is_integer()
        if isinstance(kind, s.ArrayType) and hasattr(value, "__iter__"):
            return any(is_cut(each, kind.elementType) for each in value)
        if isinstance(kind, s.MapType) and isinstance(value, dict):
            return any(is_cut(each, kind.valueType) for each in value.values())
        return False

    def refuse_cut(made: Any) -> None:
        if any(is_cut(each, kind) for each in made):
            raise TypeError(
                f"function `{name}` is declared to give `{shown}`, and gave a fraction inside of"
                " one: Spark would cut it off"
            )

    def refuse_number(made: Any) -> None:
        dtype = getattr(getattr(made, "dtype", None), "kind", "")
        if dtype in tuple("iuf") and not made.dropna().isin((0, 1)).all():
            raise TypeError(
                f"function `{name}` is declared to give `boolean`, and gave a pandas column of"
                f" `{made.dtype}`: Spark would take any number but 0 for true"
            )

    if isinstance(kind, s.BooleanType):
        return refuse_number
    return refuse_cut if isinstance(kind, s.ArrayType | s.MapType) else None


def arrays_held_to_type(code: Any, name: str, kind: s.DataType) -> Any:
    """The code of an Arrow function as one that names itself where its result cannot be cast."""
    plain = (s.NumericType, s.StringType, s.BooleanType, s.BinaryType)
    if not isinstance(kind, plain):
        return code
    from pyspark.sql.pandas.types import to_arrow_type  # noqa: PLC0415 - it wants pyarrow

    wanted, shown = to_arrow_type(kind), kind.simpleString()

    @wraps(code)
    def held(*arguments: Any, **named: Any) -> Any:
        made = code(*arguments, **named)
        given = getattr(made, "type", wanted)
        if given != wanted:
            try:
                made.cast(wanted)
            except Exception as failure:
                raise TypeError(
                    f"function `{name}` is declared to give `{shown}`, and gave an Arrow array of"
                    f" `{given}` that does not fit: {failure}"
                ) from failure
        return made

    return held
