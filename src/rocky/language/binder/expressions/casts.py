"""CAST, TRY_CAST and `::`, and the types they name."""

from typing import Any, Final

from sqlglot import exp

from rocky.diagnostics import Code
from rocky.language.binder.expr import CAST, Expr, derived, unknown
from rocky.language.binder.expressions.determinism import note_text
from rocky.language.binder.expressions.dialect_notes import note_cast
from rocky.language.binder.expressions.literals import literal_in_cast, typed_literal
from rocky.language.binder.scopes import Scope, bind_expression
from rocky.language.datatypes import types as t
from rocky.language.datatypes.casts import (
    can_cast,
    can_try_cast,
    cast_nullable,
    cast_refusal,
    try_cast_nullable,
)

_D = exp.DType
_ATOMS: Final[dict[Any, t.DataType]] = {
    _D.BOOLEAN: t.BOOLEAN,
    _D.TINYINT: t.TINYINT,
    _D.SMALLINT: t.SMALLINT,
    _D.INT: t.INT,
    _D.BIGINT: t.BIGINT,
    _D.FLOAT: t.FLOAT,
    _D.DOUBLE: t.DOUBLE,
    _D.TEXT: t.STRING,
    _D.VARCHAR: t.STRING,
    _D.CHAR: t.STRING,
    _D.BINARY: t.BINARY,
    _D.VARBINARY: t.BINARY,
    _D.DATE: t.DATE,
    _D.TIMESTAMP: t.TIMESTAMP,
    _D.TIMESTAMPTZ: t.TIMESTAMP,
    _D.TIMESTAMPLTZ: t.TIMESTAMP,
    _D.TIMESTAMPNTZ: t.TIMESTAMP_NTZ,
    _D.VARIANT: t.VARIANT,
    _D.NULL: t.NULL,
}


_NESTED: Final = frozenset({_D.ARRAY, _D.MAP, _D.STRUCT})
_SIZED: Final = frozenset({_D.VARCHAR, _D.CHAR})


def type_of(node: exp.Expr) -> t.DataType | None:
    """The Spark type a type expression names, or None when it names none."""
    kind = node.args.get("this")
    if kind.__class__ is exp.Interval:
        return _interval(kind)
    inner = node.args.get("expressions") or []
    if kind in _SIZED and not inner:
        return None
    found = _ATOMS.get(kind)
    if found is not None:
        collation = node.args.get("collate")
        return t.string(collation.name.upper()) if collation is not None else found
    if kind is _D.DECIMAL:
        return _decimal(inner)
    if kind is _D.ARRAY and len(inner) == 1:
        element = type_of(inner[0])
        return t.array(element) if element is not None else None
    if kind is _D.MAP and len(inner) == 2:
        key, value = type_of(inner[0]), type_of(inner[1])
        return t.map_of(key, value) if key is not None and value is not None else None
    if kind is _D.STRUCT and inner:
        return _struct(inner)
    if kind is _D.TIME:
        digits = inner[0].name if inner else "6"
        return t.time(int(digits)) if digits.isdigit() and int(digits) <= 6 else None
    if kind is _D.INTERVAL:
        return t.CALENDAR_INTERVAL
    return None


def _decimal(inner: list[exp.Expr]) -> t.DataType | None:
    if not inner:
        return t.decimal(10, 0)
    if not all(part.name.isdigit() for part in inner):
        return None
    precision = int(inner[0].name)
    scale = int(inner[1].name) if len(inner) > 1 else 0
    if precision > t.MAX_PRECISION or scale > precision:
        return None
    return t.decimal(precision, scale)


def _interval(node: exp.Interval) -> t.DataType | None:
    unit = node.args.get("unit")
    if unit is None:
        return t.CALENDAR_INTERVAL
    if unit.__class__ is exp.IntervalSpan:
        return t.interval(unit.this.name.lower(), unit.expression.name.lower())
    return t.interval(unit.name.lower(), unit.name.lower())


def _struct(inner: list[exp.Expr]) -> t.DataType | None:
    fields: list[t.StructField] = []
    for definition in inner:
        kind = definition.args.get("kind")
        field_type = type_of(kind) if kind is not None else None
        if field_type is None:
            return None
        required = any(
            isinstance(constraint.args.get("kind"), exp.NotNullColumnConstraint)
            for constraint in definition.args.get("constraints") or []
        )
        fields.append(t.StructField(definition.name, field_type, not required))
    return t.struct(tuple(fields))


def bind_cast(node: exp.Cast, scope: Scope) -> Expr:
    """An explicit cast, or the literal the parser library disguised as one."""
    literal = literal_in_cast(node, scope)
    if literal is not None:
        return literal
    inner = node.args["this"]
    if inner.__class__ is exp.Cast:
        # `DATE '2026-01-31'::STRING`: the library reads the casts the other way round.
        typed = typed_literal(inner, scope)
        target = type_of(inner.args["to"])
        if typed is not None and target is not None:
            return cast_to(typed, target, node, scope, safe=False)
    value = bind_expression(node.args["this"], scope)
    target = type_of(node.args["to"])
    if target is None:
        return _no_type(node, scope)
    return cast_to(value, target, node, scope, safe=False)


def bind_try_cast(node: exp.TryCast, scope: Scope) -> Expr:
    value = bind_expression(node.args["this"], scope)
    target = type_of(node.args["to"])
    if target is None:
        return _no_type(node, scope)
    return cast_to(value, target, node, scope, safe=True)


def cast_to(value: Expr, target: t.DataType, node: exp.Expr, scope: Scope, *, safe: bool) -> Expr:
    """`value` as `target`; refused casts are reported with Spark's condition."""
    source = value.type
    if source is t.UNKNOWN:
        note_cast(source, target, node, scope, safe=safe)
        found = unknown([value], CAST)
        found.type = target
        return found
    if source is not target and not (can_try_cast if safe else can_cast)(source, target):
        refusal = cast_refusal(source, target)
        return scope.binding.error(
            Code.TYPE_ERROR,
            f"a value of type `{source}` cannot be cast to `{target}`",
            node,
            refusal.condition if refusal else "DATATYPE_MISMATCH.CAST_WITHOUT_SUGGESTION",
        )
    nullable = (
        try_cast_nullable(source, target, value.nullable)
        if safe
        else cast_nullable(source, target, value.nullable)
    )
    note_cast(source, target, node, scope, safe=safe)
    if value.foldable:
        note_text(value.value, target.kind, scope)
    found = derived(target, nullable, [value], CAST)
    found.name = value.name
    return found


def _no_type(node: exp.Expr, scope: Scope) -> Expr:
    to = node.args["to"]
    inner = to.args.get("expressions") or []
    if to.args.get("this") is _D.DECIMAL and inner:
        digits = inner[0].name
        over = digits.isdigit() and int(digits) > t.MAX_PRECISION
        return scope.binding.error(
            Code.TYPE_ERROR,
            f"`decimal({', '.join(part.name for part in inner)})` is not a Spark type",
            node,
            "DECIMAL_PRECISION_EXCEEDS_MAX_PRECISION" if over else "INVALID_DECIMAL_PRECISION",
            help="precision is at most 38, and scale at most the precision",
        )
    if to.args.get("this") in _NESTED:
        word = to.args["this"].value
        return scope.binding.error(
            Code.TYPE_ERROR,
            f"`{word.lower()}` needs the types of what is in it",
            node,
            f"INCOMPLETE_TYPE_DEFINITION.{word}",
            help="for example `array<int>`, `map<string, int>` or `struct<a: int>`",
        )
    if to.args.get("this") in _SIZED:
        return scope.binding.error(
            Code.TYPE_ERROR,
            f"`{to.args['this'].value.lower()}` needs a length",
            node,
            "DATATYPE_MISSING_SIZE",
            help="write `varchar(20)`, or `string` for any length",
        )
    return scope.binding.error(
        Code.TYPE_ERROR,
        f"`{to.sql('spark')}` is not a Spark type",
        node,
        "UNSUPPORTED_DATATYPE",
    )


CASTS: Final[dict[type, Any]] = {exp.Cast: bind_cast, exp.TryCast: bind_try_cast}
