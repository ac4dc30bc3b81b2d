"""JSON, CSV, XML and variants: the result's type is written out in a string argument.

A schema may be a type, a list of columns or Spark's JSON; whatever NOT NULL it promises is
dropped, since the text read may hold anything.
"""

import json
import re
from collections.abc import Sequence
from typing import Final

from rocky.language.datatypes import types as t
from rocky.language.datatypes.casts import can_cast
from rocky.language.datatypes.parts import holds_kind, make_nullable, parts_of
from rocky.language.datatypes.text import TypeSyntaxError, parse_schema, parse_type, type_from_json
from rocky.language.datatypes.types import DataType
from rocky.language.functions import operand as f
from rocky.language.functions.operand import NO_VALUE, Operand, Refusal, Rule, Typing

_ONE_NAME: Final = re.compile(r"\s*\w+\s*(\(.*\))?\s*")
_COLON: Final = re.compile(r"\s*\w+\s*:")
_PRECISION: Final = re.compile(r"(?:decimal|dec|numeric)\s*\(\s*(\d+)", re.IGNORECASE)


def read_schema(name: str, arg: Operand, index: int) -> DataType:
    """The type a schema argument writes out; UNKNOWN when it is constant but not spelt out."""
    if arg.type is t.UNKNOWN:
        return t.UNKNOWN
    if not arg.foldable or arg.value is None or arg.type.kind not in t.STRING_KINDS:
        raise Refusal(
            "INVALID_SCHEMA.NON_STRING_LITERAL",
            f"argument {index + 1} of `{name}`, the schema, must be a string literal",
            index,
        )
    if arg.value is NO_VALUE:
        return t.UNKNOWN
    text = str(arg.value)
    found = _parse_any(text)
    if found is None:
        raise Refusal(_condition_of(text), f"`{text}` is not a schema", index)
    if holds_kind(found, "char", "varchar"):
        raise Refusal(
            "UNSUPPORTED_CHAR_OR_VARCHAR_AS_STRING",
            f"the schema of `{name}` must use `string`, not `char` or `varchar`",
            index,
        )
    return found


def _parse_any(text: str) -> DataType | None:
    if text.lstrip().startswith("{"):
        try:
            return type_from_json(json.loads(text))
        except (ValueError, KeyError, TypeError):
            return None
    try:
        return parse_type(text)
    except TypeSyntaxError:
        pass
    if _COLON.match(text):
        return None
    try:
        return t.struct(tuple(parse_schema(text)))
    except TypeSyntaxError:
        return None


def _condition_of(text: str) -> str:
    if not text.strip():
        return "PARSE_EMPTY_STATEMENT"
    if any(int(digits) > t.MAX_PRECISION for digits in _PRECISION.findall(text)):
        return "DECIMAL_PRECISION_EXCEEDS_MAX_PRECISION"
    return "UNSUPPORTED_DATATYPE" if _ONE_NAME.fullmatch(text) else "PARSE_SYNTAX_ERROR"


def _check_options(name: str, args: Sequence[Operand], index: int) -> None:
    if len(args) <= index or args[index].type is t.UNKNOWN:
        return
    found = args[index].type
    if not isinstance(found, t.MapType) or args[index].name is not None:
        raise Refusal(
            "INVALID_OPTIONS.NON_MAP_FUNCTION",
            f"argument {index + 1} of `{name}`, the options, must be written with `map(...)`",
            index,
        )
    if not {found.key.kind, found.value.kind} <= t.STRING_KINDS:
        raise Refusal(
            "INVALID_OPTIONS.NON_STRING_TYPE",
            f"the options of `{name}` must be strings, but they are `{found}`",
            index,
        )


def _check_text(name: str, arg: Operand) -> None:
    if arg.type.kind not in t.STRING_KINDS and arg.type.kind not in ("void", "unknown"):
        raise f.unexpected_type(name, 0, "`string`", arg.type)


def _read(name: str, args: Sequence[Operand]) -> DataType:
    """The nullable schema of `from_json`, `from_csv` or `from_xml` once its arguments are good."""
    f.take(name, args, 2, 3)
    schema = read_schema(name, args[1], 1)
    if name == "from_csv" and schema.kind not in ("struct", "unknown"):
        raise Refusal(
            "INVALID_SCHEMA.NON_STRUCT_TYPE",
            f"the schema of `{name}` must be columns, but it is `{schema}`",
            1,
        )
    _check_options(name, args, 2)
    _check_schema(name, schema)
    _check_text(name, args[0])
    return make_nullable(schema)


_READABLE: Final = {
    "from_json": ("JSON", frozenset({"struct", "array", "map", "variant", "unknown"})),
    "from_xml": ("XML", frozenset({"struct", "variant", "unknown"})),
}


def _check_schema(name: str, schema: DataType) -> None:
    if name not in _READABLE:
        return
    language, kinds = _READABLE[name]
    if schema.kind not in kinds:
        raise Refusal(
            f"DATATYPE_MISMATCH.INVALID_{language}_SCHEMA",
            f"`{name}` cannot give `{schema}`",
            1,
        )
    if _has_odd_key(schema):
        raise Refusal(
            f"DATATYPE_MISMATCH.INVALID_{language}_MAP_KEY_TYPE",
            f"maps in {language} have `string` keys, which `{schema}` does not",
            1,
        )


def _has_odd_key(found: DataType) -> bool:
    return any(
        isinstance(part, t.MapType) and part.key.kind not in t.STRING_KINDS
        for part in parts_of(found)
    )


def type_from_text(name: str, args: Sequence[Operand]) -> Typing:
    """`from_json` and `from_xml`, null for text that cannot be read."""
    return _read(name, args), True


def type_from_csv(name: str, args: Sequence[Operand]) -> Typing:
    """A bad CSV line still gives a struct, of nulls."""
    return _read(name, args), args[0].nullable


def type_schema_of(name: str, args: Sequence[Operand]) -> Typing:
    """`schema_of_json`, `schema_of_csv` and `schema_of_xml`."""
    f.take(name, args, 1, 2)
    _check_options(name, args, 1)
    sample = args[0]
    if sample.type is not t.UNKNOWN:
        if not sample.foldable:
            raise f.not_constant(name, 0, "the sample")
        if sample.value is None:
            raise f.unexpected_null(name, 0)
        _check_text(name, sample)
    return t.STRING, False


def type_to_text(name: str, args: Sequence[Operand]) -> Typing:
    """`to_json`, `to_csv` and `to_xml`."""
    f.take(name, args, 1, 2)
    _check_options(name, args, 1)
    _check_writable(name, args[0].type)
    return t.STRING, True


_WRITABLE: Final = {
    "to_json": frozenset({"struct", "array", "map", "variant", "void", "unknown"}),
    "to_csv": frozenset({"struct", "void", "unknown"}),
    "to_xml": frozenset({"struct", "variant", "void", "unknown"}),
}


def _check_writable(name: str, found: DataType) -> None:
    if found.kind in _WRITABLE[name] and not (name == "to_csv" and holds_kind(found, "variant")):
        return
    if name == "to_xml":
        raise f.unexpected_type(name, 0, "a struct", found)
    condition = "INVALID_JSON_SCHEMA" if name == "to_json" else "UNSUPPORTED_INPUT_TYPE"
    raise Refusal(f"DATATYPE_MISMATCH.{condition}", f"`{name}` cannot write `{found}`", 0)


# -- variants ---------------------------------------------------------------------------------


def type_parse_json(name: str, args: Sequence[Operand]) -> Typing:
    f.take(name, args, 1)
    _check_text(name, args[0])
    return t.VARIANT, name == "try_parse_json" or args[0].nullable


def type_variant_get(name: str, args: Sequence[Operand]) -> Typing:
    """`variant_get(value, path[, type])`: a variant unless a type is written out."""
    f.take(name, args, 2, 3)
    found = t.VARIANT if len(args) == 2 else read_schema(name, args[2], 2)
    f.expect(name, args[:2], (f.VARIANT, f.STRING))
    if found is not t.UNKNOWN and not can_cast(t.VARIANT, found):
        raise f.uncastable(name, 2, t.VARIANT, found)
    return make_nullable(found), True


def type_to_variant_object(name: str, args: Sequence[Operand]) -> Typing:
    f.take(name, args, 1)
    found = args[0].type
    nested = found.kind in ("array", "map", "struct")
    timed = holds_kind(found, *t.INTERVAL_KINDS)
    if found is not t.UNKNOWN and (not nested or timed or _has_odd_key(found)):
        raise f.uncastable(name, 0, found, t.VARIANT)
    return t.VARIANT, f.any_nullable(args)


FORMATS: dict[str, Rule] = f.by_name(
    {
        type_from_text: "from_json from_xml",
        type_from_csv: "from_csv",
        type_schema_of: "schema_of_json schema_of_csv schema_of_xml",
        type_to_text: "to_json to_csv to_xml",
        type_parse_json: "parse_json try_parse_json",
        type_variant_get: "variant_get try_variant_get",
        type_to_variant_object: "to_variant_object",
    }
)
