"""Generators: functions that give rows, with the columns each of them gives.

The columns are those of the function alone: what LATERAL VIEW OUTER makes nullable is the
binder's business, while `explode_outer` and its like are nullable here. `stack` is nullable
throughout, and its rows must agree exactly, since nothing in them is coerced but NULL.
"""

from collections.abc import Callable, Sequence

from rocky.language.datatypes import types as t
from rocky.language.datatypes.parts import make_nullable
from rocky.language.datatypes.types import DataType
from rocky.language.functions import operand as f
from rocky.language.functions.operand import NO_VALUE, Operand, Refusal

Columns = list[tuple[str, DataType, bool]]
Generator = Callable[[str, Sequence[Operand]], Columns]


def _one_argument(name: str, args: Sequence[Operand], parameter: str) -> None:
    if not args:
        raise Refusal("REQUIRED_PARAMETER_NOT_FOUND", f"`{name}` needs its parameter `{parameter}`")
    f.take(name, args, 1)


def columns_of_explode(name: str, args: Sequence[Operand]) -> Columns:
    """`explode` and `posexplode`, inner and outer."""
    _one_argument(name, args, "collection")
    outer = name.endswith("_outer")
    columns: Columns = [("pos", t.INT, outer)] if name.startswith("pos") else []
    found = args[0].type
    if isinstance(found, t.ArrayType):
        return [*columns, ("col", found.element, outer or found.contains_null)]
    if isinstance(found, t.MapType):
        value = ("value", found.value, outer or found.contains_null)
        return [*columns, ("key", found.key, outer), value]
    if found is t.UNKNOWN:
        return [*columns, ("col", t.UNKNOWN, True)]
    raise f.unexpected_type(name, 0, "an array or a map", found)


def columns_of_inline(name: str, args: Sequence[Operand]) -> Columns:
    """An array of structs, one row an element and one column a field."""
    _one_argument(name, args, "input")
    found = args[0].type
    if found is t.UNKNOWN:
        return []
    if not isinstance(found, t.ArrayType) or not isinstance(found.element, t.StructType):
        raise f.unexpected_type(name, 0, "an array of structs", found)
    outer = name.endswith("_outer")
    # A null element has null fields all the way down.
    element = make_nullable(found.element) if found.contains_null else found.element
    fields = element.fields if isinstance(element, t.StructType) else ()
    return [(field.name, field.type, outer or field.nullable) for field in fields]


def columns_of_stack(name: str, args: Sequence[Operand]) -> Columns:
    """`stack(n, ...)`: the values laid out over `n` rows."""
    f.take(name, args, 2, None)
    rows = args[0]
    if rows.type is t.UNKNOWN:
        return []
    if rows.type is not t.INT:
        raise f.unexpected_type(name, 0, "`int`", rows.type)
    if not rows.foldable:
        raise f.not_constant(name, 0, "the number of rows")
    if rows.value is None:
        raise Refusal(
            "DATATYPE_MISMATCH.UNEXPECTED_NULL", f"argument 1 of `{name}` must not be null", 0
        )
    if rows.value is NO_VALUE:
        return []
    if rows.value <= 0:
        raise Refusal(
            "DATATYPE_MISMATCH.VALUE_OUT_OF_RANGE",
            f"argument 1 of `{name}` must be at least 1, not {rows.value}",
            0,
        )
    values = args[1:]
    width = -(-len(values) // int(rows.value))
    columns: Columns = []
    for place in range(width):
        found = _stacked_type(values[place::width])
        if found is None:
            raise Refusal(
                "DATATYPE_MISMATCH.STACK_COLUMN_DIFF_TYPES",
                f"column {place + 1} of `{name}` must be of one type in every row",
            )
        columns.append((f"col{place}", found, True))
    return columns


def _stacked_type(values: Sequence[Operand]) -> DataType | None:
    found: DataType = t.NULL
    for value in values:
        if value.type is t.UNKNOWN:
            return t.UNKNOWN
        if found is t.NULL:
            found = value.type
        elif value.type is not found and value.type is not t.NULL:
            return None
    return found


def columns_of_json_tuple(name: str, args: Sequence[Operand]) -> Columns:
    f.take(name, args, 2, None)
    for index, arg in enumerate(args):
        if arg.type.kind not in t.STRING_KINDS and arg.type is not t.UNKNOWN:
            raise Refusal(
                "DATATYPE_MISMATCH.NON_STRING_TYPE",
                f"argument {index + 1} of `{name}` must be `string`, but it is `{arg.type}`",
                index,
            )
    return [(f"c{place}", t.STRING, True) for place in range(len(args) - 1)]


def columns_of_variant_explode(name: str, args: Sequence[Operand]) -> Columns:
    _one_argument(name, args, "input")
    found = args[0].type
    if found.kind not in ("variant", "void", "unknown"):
        raise f.unexpected_type(name, 0, "`variant`", found)
    outer = name.endswith("_outer")
    return [("pos", t.INT, outer), ("key", t.STRING, True), ("value", t.VARIANT, outer)]


def columns_of_range(name: str, args: Sequence[Operand]) -> Columns:
    f.take(name, args, 1, 4)
    for index, arg in enumerate(args):
        if arg.type is t.UNKNOWN:
            continue
        if not arg.foldable:
            raise Refusal(
                "NON_FOLDABLE_ARGUMENT", f"argument {index + 1} of `{name}` must be a constant"
            )
        family = f.INT if index == 3 else f.BIGINT
        if arg.type is t.NULL or family.fit(arg.type) is None:
            raise Refusal(
                "UNEXPECTED_INPUT_TYPE",
                f"argument {index + 1} of `{name}` must be {family.text}, but it is `{arg.type}`",
                index,
            )
    if len(args) > 2 and args[2].value == 0:
        raise Refusal("FAILED_FUNCTION_CALL", f"the step of `{name}` must not be zero", 2)
    return [("id", t.BIGINT, False)]


def _fixed(*columns: tuple[str, DataType, bool]) -> Generator:
    def rule(name: str, args: Sequence[Operand]) -> Columns:
        if args:
            raise f.wrong_count(name, "no", len(args))
        return list(columns)

    return rule


GENERATORS: dict[str, Generator] = {
    "explode": columns_of_explode,
    "explode_outer": columns_of_explode,
    "posexplode": columns_of_explode,
    "posexplode_outer": columns_of_explode,
    "inline": columns_of_inline,
    "inline_outer": columns_of_inline,
    "stack": columns_of_stack,
    "json_tuple": columns_of_json_tuple,
    "variant_explode": columns_of_variant_explode,
    "variant_explode_outer": columns_of_variant_explode,
    "range": columns_of_range,
    "sql_keywords": _fixed(("keyword", t.STRING, False), ("reserved", t.BOOLEAN, False)),
    "collations": _fixed(
        ("CATALOG", t.STRING, False),
        ("SCHEMA", t.STRING, False),
        ("NAME", t.STRING, False),
        ("LANGUAGE", t.STRING, True),
        ("COUNTRY", t.STRING, True),
        ("ACCENT_SENSITIVITY", t.STRING, False),
        ("CASE_SENSITIVITY", t.STRING, False),
        ("PAD_ATTRIBUTE", t.STRING, False),
        ("ICU_VERSION", t.STRING, True),
    ),
}

TABLE_ONLY = frozenset(
    {"range", "sql_keywords", "collations", "variant_explode", "variant_explode_outer"}
)
"""Generators that may only stand in FROM."""
