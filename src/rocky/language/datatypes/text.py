"""Types as text: Spark's DDL form read into types, and its schema JSON both ways.

`parse_type("array<int>")` and `parse_schema("id BIGINT NOT NULL, name STRING")` accept what
Spark's own type parser accepts. The text a type prints is on the type itself (`str(type)`).
"""

import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from rocky.language.datatypes import types as t
from rocky.language.names import quote_if_needed

_TOKEN = re.compile(
    r"\s*(?:(?P<name>[A-Za-z_][A-Za-z0-9_]*|[0-9]+[A-Za-z_]\w*)|(?P<number>-?[0-9]+)|`(?P<quoted>(?:[^`]|``)+)`"
    r"|'(?P<text>(?:[^'\\]|\\.)*)'|\"(?P<dtext>(?:[^\"\\]|\\.)*)\"|(?P<mark><>|[<>(),:]))"
)

_PLAIN: dict[str, t.DataType] = {
    "boolean": t.BOOLEAN,
    "tinyint": t.TINYINT,
    "byte": t.TINYINT,
    "smallint": t.SMALLINT,
    "short": t.SMALLINT,
    "int": t.INT,
    "integer": t.INT,
    "bigint": t.BIGINT,
    "long": t.BIGINT,
    "float": t.FLOAT,
    "real": t.FLOAT,
    "double": t.DOUBLE,
    "string": t.STRING,
    "binary": t.BINARY,
    "date": t.DATE,
    "timestamp": t.TIMESTAMP,
    "timestamp_ltz": t.TIMESTAMP,
    "timestamp_ntz": t.TIMESTAMP_NTZ,
    "void": t.NULL,
    "variant": t.VARIANT,
}
_DECIMAL_NAMES = frozenset({"decimal", "dec", "numeric"})
_UNITS = t.YEAR_MONTH_UNITS + t.DAY_TIME_UNITS
_COLLATIONS = frozenset({"UTF8_BINARY", "UTF8_LCASE", "UNICODE", "UNICODE_CI"})


_LOCALE_COLLATION = re.compile(r"[A-Z]{2,3}(_[A-Z]{2,4}){0,2}(_CI|_CS|_AI|_AS|_RTRIM)*")


def is_collation(name: str) -> bool:
    """Whether an upper-case name is one of Spark's collations, as far as its form goes."""
    root, _, _ = name.partition("_RTRIM")
    return (
        root in _COLLATIONS
        or root.startswith("UNICODE_")
        or bool(_LOCALE_COLLATION.fullmatch(name))
    )


class TypeSyntaxError(ValueError):
    """Text that is not a Spark type; `offset` is where reading stopped."""

    def __init__(self, message: str, offset: int) -> None:
        super().__init__(message, offset)
        self.message = message
        self.offset = offset

    def __str__(self) -> str:
        return self.message


def parse_type(text: str) -> t.DataType:
    """The type a text such as `decimal(18,2)` or `struct<a:int>` names. Raises TypeSyntaxError."""
    reader = _Reader(text)
    with _bounded():
        found = reader.read_type()
    reader.expect_end()
    return found


def parse_schema(text: str) -> list[t.StructField]:
    """The columns of a DDL list such as `id BIGINT NOT NULL, name STRING`."""
    reader = _Reader(text)
    with _bounded():
        fields = [reader.read_field()]
        while reader.take(","):
            fields.append(reader.read_field())
    reader.expect_end()
    return fields


@contextmanager
def _bounded() -> Iterator[None]:
    """Turns a type that is too large, or too deep for the stack, into TypeSyntaxError."""
    try:
        yield
    except t.TypeTooLarge as fault:
        raise TypeSyntaxError(str(fault), 0) from fault
    except RecursionError:
        message = f"a type nests deeper than {t.MAX_DEPTH} levels"
        raise TypeSyntaxError(message, 0) from None


class _Reader:
    """A cursor over the tokens of a type text."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.tokens: list[tuple[str, str, int]] = []
        at = 0
        end = len(text.rstrip())
        while at < end:
            match = _TOKEN.match(text, at)
            if match is None:
                raise TypeSyntaxError(f"unexpected `{text[at:].strip()[:1]}` in type `{text}`", at)
            kind = str(match.lastgroup)
            # `struct<>` is one mark for the tokenizer's sake and two for ours.
            if match[kind] == "<>":
                self.tokens += [("mark", "<", match.start(kind)), ("mark", ">", match.end() - 1)]
            else:
                self.tokens.append((kind, match[kind], match.start(kind)))
            at = match.end()
        self.at = 0

    def peek(self, ahead: int = 0) -> str:
        """The lower-case text of a coming token, or an empty string at the end or for a quote."""
        position = self.at + ahead
        if position >= len(self.tokens) or self.tokens[position][0] == "quoted":
            return ""
        return self.tokens[position][1].lower()

    def offset(self) -> int:
        return self.tokens[self.at][2] if self.at < len(self.tokens) else len(self.text)

    def take(self, mark: str) -> bool:
        if self.peek() == mark:
            self.at += 1
            return True
        return False

    def expect(self, mark: str) -> None:
        if not self.take(mark):
            found = self.peek() or "end of text"
            raise TypeSyntaxError(
                f"expected `{mark}` but found `{found}` in type `{self.text}`", self.offset()
            )

    def expect_end(self) -> None:
        if self.at < len(self.tokens):
            message = f"unexpected `{self.peek()}` in type `{self.text}`"
            raise TypeSyntaxError(message, self.offset())

    def number(self) -> int:
        if self.at >= len(self.tokens) or self.tokens[self.at][0] != "number":
            raise TypeSyntaxError(f"expected a number in type `{self.text}`", self.offset())
        self.at += 1
        return int(self.tokens[self.at - 1][1])

    def read_type(self) -> t.DataType:
        start = self.offset()
        name = self.peek()
        self.at += 1
        if name == "string":
            return self.read_collation()
        plain = _PLAIN.get(name)
        if plain is not None:
            return plain
        if name in _DECIMAL_NAMES:
            return self.read_decimal(start)
        match name:
            case "array":
                self.expect("<")
                element = self.read_type()
                self.expect(">")
                return t.array(element)
            case "map":
                self.expect("<")
                key = self.read_type()
                self.expect(",")
                value = self.read_type()
                self.expect(">")
                return t.map_of(key, value)
            case "struct":
                return self.read_struct()
            case "interval":
                return self.read_interval()
            case "char" | "character" | "varchar":
                self.expect("(")
                length = self.number()
                self.expect(")")
                return t.varchar(length) if name == "varchar" else t.char(length)
            case "time":
                return self.read_time(start)
            case _:
                raise TypeSyntaxError(f"`{name or self.text.strip()}` is not a Spark type", start)

    def read_collation(self) -> t.DataType:
        if not self.take("collate"):
            return t.STRING
        start = self.offset()
        name = self.peek().upper()
        self.at += 1
        if not is_collation(name):
            raise TypeSyntaxError(f"`{name}` is not a collation", start)
        return t.string(name)

    def read_decimal(self, start: int) -> t.DataType:
        if not self.take("("):
            return t.decimal(10, 0)
        precision = self.number()
        scale = self.number() if self.take(",") else 0
        self.expect(")")
        if precision > t.MAX_PRECISION:
            raise TypeSyntaxError(
                f"decimal precision {precision} exceeds the maximum of {t.MAX_PRECISION}", start
            )
        if scale > precision:
            raise TypeSyntaxError(
                f"decimal scale {scale} is larger than its precision {precision}", start
            )
        return t.decimal(precision, scale)

    def read_time(self, start: int) -> t.DataType:
        precision = 6
        if self.take("("):
            precision = self.number()
            self.expect(")")
        if not 0 <= precision <= 6:
            raise TypeSyntaxError(f"time precision {precision} is not between 0 and 6", start)
        return t.time(precision)

    def read_interval(self) -> t.DataType:
        first = self.peek()
        if first not in _UNITS:
            return t.CALENDAR_INTERVAL
        start = self.offset()
        self.at += 1
        last = first
        if self.take("to"):
            last = self.peek()
            self.at += 1
        family = t.YEAR_MONTH_UNITS if first in t.YEAR_MONTH_UNITS else t.DAY_TIME_UNITS
        if last not in family or family.index(last) < family.index(first):
            raise TypeSyntaxError(f"`interval {first} to {last}` is not a Spark type", start)
        return t.interval(first, last)

    def read_struct(self) -> t.DataType:
        self.expect("<")
        fields: list[t.StructField] = []
        while not self.take(">"):
            if fields:
                self.expect(",")
            fields.append(self.read_field())
        return t.struct(tuple(fields))

    def read_field(self) -> t.StructField:
        if self.at >= len(self.tokens) or self.tokens[self.at][0] not in ("name", "quoted"):
            raise TypeSyntaxError(f"expected a column name in `{self.text}`", self.offset())
        name = self.tokens[self.at][1].replace("``", "`")
        self.at += 1
        self.take(":")
        field_type = self.read_type()
        nullable = True
        while self.peek() in ("not", "null", "comment", "default"):
            word = self.peek()
            self.at += 1
            if word == "not":
                self.expect("null")
                nullable = False
            elif word in ("comment", "default"):
                self.at += 1
        return t.StructField(name, field_type, nullable)


# Words of the JSON form that are no type names in SQL.
_JSON_WORDS = {"null": t.NULL, "unknown": t.UNKNOWN}


def type_from_json(value: Any) -> t.DataType:
    """The type in Spark's schema JSON, such as `"long"` or `{"type": "array", ...}`."""
    with _bounded():
        return _type_from_json(value)


def _type_from_json(value: Any) -> t.DataType:
    if isinstance(value, str):
        return _JSON_WORDS.get(value) or parse_type(value)
    match value["type"]:
        case "array":
            return t.array(_type_from_json(value["elementType"]), value["containsNull"])
        case "map":
            return t.map_of(
                _type_from_json(value["keyType"]),
                _type_from_json(value["valueType"]),
                value["valueContainsNull"],
            )
        case "struct":
            return t.struct(tuple(_field_from_json(field) for field in value["fields"]))
        case other:
            raise TypeSyntaxError(f"`{other}` is not a type of Spark's schema JSON", 0)


def fields_from_json(value: Any) -> list[t.StructField]:
    """The columns of a Spark schema given as the dict of its JSON."""
    with _bounded():
        return [_field_from_json(field) for field in value["fields"]]


def _field_from_json(field: Any) -> t.StructField:
    found = _type_from_json(field["type"])
    metadata = field.get("metadata") or {}
    # Spark keeps collations beside the type, keyed by the field's path.
    collations = metadata.get("__COLLATIONS", {})
    if found is t.STRING and field["name"] in collations:
        found = t.string(collations[field["name"]].split(".")[-1])
    return t.StructField(field["name"], found, field["nullable"])


_JSON_NAMES = {"int": "integer", "bigint": "long", "smallint": "short", "tinyint": "byte"}


def type_to_json(type: t.DataType) -> Any:  # noqa: A002 - the noun of this package
    """Spark's schema JSON of a type, as Python values."""
    if isinstance(type, t.ArrayType):
        element = type_to_json(type.element)
        return {"type": "array", "elementType": element, "containsNull": type.contains_null}
    if isinstance(type, t.MapType):
        return {
            "type": "map",
            "keyType": type_to_json(type.key),
            "valueType": type_to_json(type.value),
            "valueContainsNull": type.contains_null,
        }
    if isinstance(type, t.StructType):
        return {"type": "struct", "fields": [field_to_json(f) for f in type.fields]}
    return _JSON_NAMES.get(type.kind, type.text)


def field_to_json(field: t.StructField) -> dict[str, Any]:
    metadata: dict[str, Any] = {}
    kind = type_to_json(field.type)
    if isinstance(field.type, t.StringType) and field.type.collation != "UTF8_BINARY":
        # Spark keeps collations beside the type, under the field's name.
        provider = "spark" if field.type.collation.startswith("UTF8") else "icu"
        metadata = {"__COLLATIONS": {field.name: f"{provider}.{field.type.collation}"}}
        kind = "string"
    return {"name": field.name, "type": kind, "nullable": field.nullable, "metadata": metadata}


_COMPOSITE = frozenset({"array", "map", "struct"})
_DECODED: dict[str, t.DataType] = {}


def encode_type(type: t.DataType) -> str:  # noqa: A002 - the noun of this package
    """A text that holds all of a type, nested nullability included; `decode_type` reads it."""
    if type.kind in _COMPOSITE:
        return json.dumps(type_to_json(type), separators=(",", ":"))
    return type.text


def decode_type(text: str) -> t.DataType:
    """The type that `encode_type` wrote."""
    found = _DECODED.get(text)
    if found is None:
        if text.startswith("{"):
            found = type_from_json(json.loads(text))
        else:
            found = t.UNKNOWN if text == "unknown" else parse_type(text)
        _DECODED[text] = found
    return found


def format_type(type: t.DataType) -> str:  # noqa: A002 - the noun of this package
    """A type as people write it, which `parse_type` reads; elements are taken to be nullable."""
    if isinstance(type, t.ArrayType):
        return f"array<{format_type(type.element)}>"
    if isinstance(type, t.MapType):
        return f"map<{format_type(type.key)},{format_type(type.value)}>"
    if isinstance(type, t.StructType):
        return f"struct<{','.join(_format_field(each) for each in type.fields)}>"
    return type.text


def _format_field(field: t.StructField) -> str:
    never = "" if field.nullable else " not null"
    return f"{quote_if_needed(field.name)}:{format_type(field.type)}{never}"
