"""Results of Python functions, held to the declared type where they are made.

Spark turns a value that is not of the declared type into null and says nothing: an `int` where
`double` is declared, a text where `int` is, every value of the column. So each result is looked at
on the worker before Spark sees it, and one that does not fit fails the model. What the functions
here refer to is in their closures: workers know Spark and not Rocky.
"""

from collections.abc import Callable, Iterable, Iterator
from functools import wraps
from typing import Any

from pyspark.sql import types as s

Verifier = Callable[[Any], Any]


def held_to_type(code: Any, name: str, kind: s.DataType) -> Any:
    """The code of a function as one that raises TypeError for a result of another type."""
    verify = _verifier(name, kind)
    if verify is None:
        return code

    @wraps(code)
    def held(*arguments: Any, **named: Any) -> Any:
        value = code(*arguments, **named)
        verify(value)
        return value

    return held


def rows_held_to_type(code: Any, name: str, kind: s.StructType) -> Any:
    """The class of a function that gives rows as one that raises TypeError for a wrong row."""
    verify = _verifier(name, kind)
    if verify is None:
        return code

    def held(rows: Iterable[Any] | None) -> Iterator[Any]:
        for row in rows or ():
            verify(row)
            yield row

    def method(own: Any) -> Any:
        @wraps(own)
        def call(*arguments: Any, **named: Any) -> Iterator[Any]:
            return held(own(*arguments, **named))

        return call

    names = [each for each in ("eval", "terminate") if hasattr(code, each)]
    return type(code.__name__, (code,), {each: method(getattr(code, each)) for each in names})


def _verifier(name: str, kind: s.DataType) -> Verifier | None:
    """Spark's own check of values that are made into rows; None for types that it does not know."""
    if not _is_verified(kind):
        return None
    verify: Verifier = s._make_type_verifier(kind)  # noqa: SLF001 - the rules that rows have
    declared = kind.simpleString()

    def told(value: Any) -> None:
        try:
            verify(value)
        except Exception as failure:
            raise TypeError(
                f"function `{name}` is declared to give `{declared}`, and gave a Python"
                f" `{type(value).__name__}` that does not fit: Spark would store null, or"
                " another value"
            ) from failure

    return told


def _is_verified(kind: s.DataType) -> bool:
    match kind:
        case s.ArrayType():
            return _is_verified(kind.elementType)
        case s.MapType():
            return _is_verified(kind.keyType) and _is_verified(kind.valueType)
        case s.StructType():
            return all(_is_verified(each.dataType) for each in kind.fields)
        case _:
            return type(kind) in s._acceptable_types  # noqa: SLF001 - as above
