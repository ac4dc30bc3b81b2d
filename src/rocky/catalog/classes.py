"""Classes: the types the function catalogue tells apart, and the class of any type.

The order of `CLASS_TEXTS` is that of every row in the stored catalogue: a class may be added
only together with newly generated data.
"""

from typing import Final

from rocky.datatypes.types import ArrayType, DataType, MapType

CLASS_TEXTS: Final = (
    "void",
    "boolean",
    "tinyint",
    "smallint",
    "int",
    "bigint",
    "float",
    "double",
    "decimal(10,2)",
    "string",
    "binary",
    "date",
    "timestamp",
    "timestamp_ntz",
    "time(6)",
    "interval year to month",
    "interval day to second",
    "interval",
    "array<int>",
    "array<string>",
    "array<double>",
    "array<struct<a:int,b:string>>",
    "array<array<int>>",
    "map<string,int>",
    "map<int,string>",
    "struct<a:int,b:string>",
    "variant",
)

_AT: Final = {text: at for at, text in enumerate(CLASS_TEXTS)}
_BY_KIND: Final[dict[str, int]] = {
    # Types without parameters are named as their kind is.
    **{text: at for text, at in _AT.items() if "<" not in text and " " not in text},
    "char": _AT["string"],
    "varchar": _AT["string"],
    "decimal": _AT["decimal(10,2)"],
    "time": _AT["time(6)"],
    "interval_ym": _AT["interval year to month"],
    "interval_dt": _AT["interval day to second"],
    "struct": _AT["struct<a:int,b:string>"],
}
_BY_ELEMENT: Final[dict[str, int]] = {
    "int": _AT["array<int>"],
    "string": _AT["array<string>"],
    "double": _AT["array<double>"],
    "struct": _AT["array<struct<a:int,b:string>>"],
    "array": _AT["array<array<int>>"],
}
_BY_ENTRY: Final[dict[tuple[str, str], int]] = {
    ("string", "int"): _AT["map<string,int>"],
    ("int", "string"): _AT["map<int,string>"],
}
ARRAY_CLASSES: Final = tuple(at for at, text in enumerate(CLASS_TEXTS) if text.startswith("array<"))
MAP_CLASSES: Final = tuple(at for at, text in enumerate(CLASS_TEXTS) if text.startswith("map<"))
ALL_CLASSES: Final = tuple(range(len(CLASS_TEXTS)))


def class_of(type: DataType) -> int | None:  # noqa: A002 - the noun of this package
    """The class a type is read as; None when the catalogue has only relatives of it."""
    if isinstance(type, ArrayType):
        return _BY_ELEMENT.get(type.element.kind)
    if isinstance(type, MapType):
        return _BY_ENTRY.get((type.key.kind, type.value.kind))
    return _BY_KIND.get(type.kind)


def relatives_of(type: DataType) -> tuple[int, ...]:  # noqa: A002 - the noun of this package
    """The classes a type may behave like: its own, its family, or every class."""
    own = class_of(type)
    if own is not None:
        return (own,)
    if isinstance(type, ArrayType):
        return ARRAY_CLASSES
    return MAP_CLASSES if isinstance(type, MapType) else ALL_CLASSES
