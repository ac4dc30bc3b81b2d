"""Columns: what the compiler promised, held against what Spark or a Python model gives.

Spark reads every stored column as nullable, so nullability is the compiler's word and is enforced
when rows are written; types must be those that were promised.
"""

from collections.abc import Sequence

from rocky.datatypes.types import (
    UNKNOWN,
    ArrayType,
    DataType,
    MapType,
    StringType,
    StructField,
    StructType,
)
from rocky.errors import ModelFailed
from rocky.project.strategies import query_width
from rocky.run.build import Build

Agreed = list[tuple[str, StructField]]


def agree_columns(build: Build, given: Sequence[StructField]) -> Agreed:
    """For each output column of the query, the name it is given under and what it will be.

    No compiled columns at all means that the compiler could not list them: Spark's word is taken.
    Raises ModelFailed where the two differ.
    """
    width = query_width(build.model.strategy, len(build.columns))
    promised = build.columns[:width]
    if not build.columns:
        return [(field.name, field) for field in given]
    if build.query is None:
        given = _in_order(build, promised, given)
    if len(given) != len(promised):
        shown = ", ".join(f"`{field.name}`" for field in given)
        raise ModelFailed(
            f"model `{build.model.name}` was compiled to {len(promised)} columns,"
            f" but Spark gives {len(given)}: {shown}"
        )
    return [
        (theirs.name, _agreed(build, ours, theirs))
        for ours, theirs in zip(promised, given, strict=True)
    ]


def _in_order(
    build: Build, promised: Sequence[StructField], given: Sequence[StructField]
) -> list[StructField]:
    """The columns of a Python model in their declared order."""
    by_name = {field.name.lower(): field for field in given}
    wanted = {field.name.lower(): field.name for field in promised}
    missing = [name for key, name in wanted.items() if key not in by_name]
    extra = [field.name for key, field in by_name.items() if key not in wanted]
    if missing or extra:
        said = [f"does not give `{name}`" for name in missing]
        said += [f"gives `{name}`, which is not declared" for name in extra]
        raise ModelFailed(f"model `{build.model.name}` {'; '.join(said)}")
    return [by_name[key] for key in wanted]


def _agreed(build: Build, ours: StructField, theirs: StructField) -> StructField:
    if not is_complete(ours.type):
        return StructField(ours.name, theirs.type, ours.nullable or theirs.nullable)
    if not is_same_type(ours.type, theirs.type):
        word = "declares" if build.query is None else "was compiled to"
        raise ModelFailed(
            f"column `{ours.name}`: model `{build.model.name}` {word} `{ours.type}`,"
            f" but Spark gives `{theirs.type}`"
        )
    return ours


def is_complete(kind: DataType) -> bool:
    """Whether a type is known through and through."""
    return all(part is not UNKNOWN for part in _parts(kind))


def is_same_type(ours: DataType, theirs: DataType) -> bool:
    """Whether two types hold the same values, whatever may be null in them."""
    match ours, theirs:
        case ArrayType(), ArrayType():
            return is_same_type(ours.element, theirs.element)
        case MapType(), MapType():
            return is_same_type(ours.key, theirs.key) and is_same_type(ours.value, theirs.value)
        case StructType(), StructType():
            return len(ours.fields) == len(theirs.fields) and all(
                mine.name.lower() == other.name.lower() and is_same_type(mine.type, other.type)
                for mine, other in zip(ours.fields, theirs.fields, strict=True)
            )
        case StringType(), StringType():
            # What a CHAR or VARCHAR is read from is a string.
            return ours.collation == theirs.collation
        case _:
            return ours is theirs


def _parts(kind: DataType) -> list[DataType]:
    found = [kind]
    match kind:
        case ArrayType(element=element):
            found += _parts(element)
        case MapType(key=key, value=value):
            found += [*_parts(key), *_parts(value)]
        case StructType(fields=fields):
            for field in fields:
                found += _parts(field.type)
        case _:
            pass
    return found
