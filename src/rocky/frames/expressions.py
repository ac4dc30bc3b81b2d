"""Expressions of a plan as SQL: one rule a kind, in the tables at the end.

A rule takes the message and the scope and gives a fragment. Operators are written with
parentheses around them, so that no rule has to know about precedence.
"""

from collections.abc import Callable
from typing import Any, Final

from rocky.diagnostics import Code
from rocky.frames.code_digest import code_digest
from rocky.frames.fragments import Fragment, joined, sql
from rocky.frames.layers import written
from rocky.frames.literals import NoSql, literal_sql, parsed_type, type_of
from rocky.frames.scope import Scope
from rocky.frames.sites import Site, site_of
from rocky.language.datatypes import types as t
from rocky.language.datatypes.text import format_type
from rocky.language.datatypes.types import StructField
from rocky.language.names import bare_name, quote_text

Rule = Callable[[Any, Scope, Site | None], Fragment]

_INFIX: Final = {
    "+": "+", "-": "-", "*": "*", "/": "/", "%": "%", "==": "=", "=": "=", "<=>": "<=>",
    "<": "<", ">": ">", "<=": "<=", ">=": ">=", "and": "AND", "or": "OR", "&": "&", "|": "|",
    "^": "^", "like": "LIKE", "rlike": "RLIKE", "ilike": "ILIKE", "div": "DIV",
}  # fmt: skip
_SEEDED: Final = frozenset({"rand", "randn", "random", "uuid", "shuffle", "randstr", "uniform"})
_AGGREGATE_EVALUATIONS: Final = frozenset({202, 203, 252, 253})
"""Evaluation types of PySpark whose functions take groups of rows."""


def expression(message: Any, scope: Scope) -> Fragment:
    """The SQL of an expression; an unknown, with a gap noted, where there is none."""
    kind = message.WhichOneof("expr_type")
    site = site_of(message)
    rule = _RULES.get(kind)
    if rule is None:
        scope.lowering.gap(f"an expression of the kind `{kind}`", site)
        return scope.lowering.unknown_value(site)
    try:
        return rule(getattr(message, kind), scope, site)
    except NoSql as missing:
        scope.lowering.gap(str(missing), site)
        return scope.lowering.unknown_value(site)


def sort_order(message: Any, scope: Scope) -> Fragment:
    """One key of an ordering."""
    down = message.direction == message.SORT_DIRECTION_DESCENDING
    last = message.null_ordering == message.SORT_NULLS_LAST
    words = " DESC" if down else " ASC"
    if last != down:
        words += " NULLS LAST" if last else " NULLS FIRST"
    return sql(expression(message.child, scope), words)


def _listed(messages: Any, scope: Scope) -> Fragment:
    return joined(", ", [expression(each, scope) for each in messages])


def _literal(message: Any, scope: Scope, site: Site | None) -> Fragment:
    return sql(literal_sql(message), site=site)


def _attribute(message: Any, scope: Scope, site: Site | None) -> Fragment:
    if message.is_metadata_column:
        raise NoSql("a metadata column")
    plan_id = message.plan_id if message.HasField("plan_id") else None
    return scope.attribute(message.unparsed_identifier, plan_id, site)


def _text(message: Any, scope: Scope, site: Site | None) -> Fragment:
    found, _, _ = scope.text(message.expression, site)
    return sql("(", found, "\n)" if "--" in message.expression else ")", site=site)


def _star(message: Any, scope: Scope, site: Site | None) -> Fragment:
    if message.unparsed_target:
        raise NoSql("`frame.*` inside an expression")
    hidden = any(
        each.hidden or each.sql != each.name for layer, _ in scope.inputs for each in layer.columns
    )
    if not hidden:
        return sql("*", site=site)
    return sql(
        ", ".join(
            scope.reference(at, index)
            for at, (layer, _) in enumerate(scope.inputs)
            for index, each in enumerate(layer.columns)
            if not each.hidden
        ),
        site=site,
    )


def _alias(message: Any, scope: Scope, site: Site | None) -> Fragment:
    # Below the select list an alias has no meaning but in `struct(...)`, where it names a field.
    return expression(message.expr, scope)


def _cast(message: Any, scope: Scope, site: Site | None) -> Fragment:
    written_type = message.WhichOneof("cast_to_type") == "type_str"
    kind = parsed_type(message.type_str) if written_type else type_of(message.type)
    word = "TRY_CAST" if message.eval_mode == message.EVAL_MODE_TRY else "CAST"
    return sql(f"{word}(", expression(message.expr, scope), f" AS {format_type(kind)})", site=site)


def _function(message: Any, scope: Scope, site: Site | None) -> Fragment:
    name, arguments = message.function_name, message.arguments
    if message.is_internal:
        raise NoSql(f"the internal function `{name}`")
    form = _FORMS.get(name.lower())
    if form is not None:
        return form(message, scope, site)
    if name in _INFIX and len(arguments) == 2:
        left, right = (expression(each, scope) for each in arguments)
        return sql("(", left, f" {_INFIX[name]} ", right, ")", site=site)
    given = () if name.lower() in _SEEDED and _is_seed(name, arguments) else arguments
    distinct = "DISTINCT " if message.is_distinct else ""
    return sql(f"{name}({distinct}", _listed(given, scope), ")", site=site)


def _is_seed(name: str, arguments: Any) -> bool:
    """Whether the client has made up the only argument: it does so where the author gave none."""
    return name.lower() in ("rand", "randn", "random", "uuid") and len(arguments) == 1


def _case(message: Any, scope: Scope, site: Site | None) -> Fragment:
    given = [expression(each, scope) for each in message.arguments]
    parts: list[str | Fragment] = ["CASE"]
    for at in range(0, len(given) - 1, 2):
        parts += [" WHEN ", given[at], " THEN ", given[at + 1]]
    if len(given) % 2:
        parts += [" ELSE ", given[-1]]
    return sql(*parts, " END", site=site)


def _in(message: Any, scope: Scope, site: Site | None) -> Fragment:
    value, *options = message.arguments
    if not options:
        return sql("false", site=site)
    return sql("(", expression(value, scope), " IN (", _listed(options, scope), "))", site=site)


def _prefixed(before: str, after: str = ")") -> Rule:
    def rule(message: Any, scope: Scope, site: Site | None) -> Fragment:
        if len(message.arguments) != 1:
            raise NoSql(f"`{message.function_name}` of {len(message.arguments)} arguments")
        return sql(before, expression(message.arguments[0], scope), after, site=site)

    return rule


def _struct(message: Any, scope: Scope, site: Site | None) -> Fragment:
    """`struct(...)`: an alias inside names a field."""
    parts = []
    for each in message.arguments:
        value = expression(each, scope)
        named = each.WhichOneof("expr_type") == "alias" and len(each.alias.name) == 1
        parts.append(sql(value, f" AS {written(each.alias.name[0])}") if named else value)
    return sql(f"{message.function_name}(", joined(", ", parts), ")", site=site)


def _call(message: Any, scope: Scope, site: Site | None) -> Fragment:
    """`call_function`, whose function may be the project's own."""
    return sql(f"{message.function_name}(", _listed(message.arguments, scope), ")", site=site)


def _named_argument(message: Any, scope: Scope, site: Site | None) -> Fragment:
    return sql(f"{written(message.key)} => ", expression(message.value, scope), site=site)


def _lambda(message: Any, scope: Scope, site: Site | None) -> Fragment:
    names = [".".join(each.name_parts) for each in message.arguments]
    head = names[0] if len(names) == 1 else f"({', '.join(names)})"
    return sql(f"{head} -> ", expression(message.function, scope), site=site)


def _variable(message: Any, scope: Scope, site: Site | None) -> Fragment:
    return sql(".".join(map(written, message.name_parts)), site=site)


def _element(message: Any, scope: Scope, site: Site | None) -> Fragment:
    child, key = (expression(each, scope) for each in (message.child, message.extraction))
    return sql(child, "[", key, "]", site=site)


def _update(message: Any, scope: Scope, site: Site | None) -> Fragment:
    """`withField` and `dropFields`: the struct is put together again, null where it was null."""
    value = expression(message.struct_expression, scope)
    kind, nullable = scope.lowering.type_of(value, scope.source)
    if not isinstance(kind, t.StructType) or "." in message.field_name:
        raise NoSql("a field of a struct that is changed and whose type is not known")
    new = (
        expression(message.value_expression, scope)
        if message.HasField("value_expression")
        else None
    )
    fields = _updated(kind, message.field_name, new)
    if nullable and any(not each.nullable for each, own in fields if own is None):
        return _declared_struct(value, fields, scope, site)
    made = sql(
        "named_struct(",
        joined(
            ", ",
            [
                sql(f"{quote_text(each.name)}, ", own or sql(value, f".{written(each.name)}"))
                for each, own in fields
            ],
        ),
        ")",
        site=site,
    )
    if not nullable:
        return made
    return sql("CASE WHEN ", value, " IS NOT NULL THEN ", made, " END", site=site)


def _updated(
    kind: t.StructType, name: str, new: Fragment | None
) -> list[tuple[StructField, Fragment | None]]:
    """The fields of a struct, each with its new value where it has one."""
    key = bare_name(name).lower()
    made: list[tuple[StructField, Fragment | None]] = []
    placed = new is None
    for each in kind.fields:
        if each.name.lower() != key:
            made.append((each, None))
        elif new is not None:
            placed = True
            made.append((StructField(name, t.UNKNOWN, True), new))
    if not placed:
        made.append((StructField(name, t.UNKNOWN, True), new))
    return made


def _declared_struct(
    value: Fragment,
    fields: list[tuple[StructField, Fragment | None]],
    scope: Scope,
    site: Site | None,
) -> Fragment:
    """A struct that may be null with fields that may not: SQL has no way to put one together."""
    kinds = []
    given = [value]
    for each, own in fields:
        if own is None:
            kinds.append(each)
            continue
        given.append(own)
        kinds.append(StructField(each.name, *scope.lowering.type_of(own, scope.source)))
    name = scope.lowering.function("update_fields", t.struct(tuple(kinds)), b"fields")
    return sql(f"{name}(", joined(", ", given), ")", site=site)


def _window(message: Any, scope: Scope, site: Site | None) -> Fragment:
    parts: list[Fragment] = []
    if message.partition_spec:
        parts.append(sql("PARTITION BY ", _listed(message.partition_spec, scope)))
    if message.order_spec:
        keys = [sort_order(each, scope) for each in message.order_spec]
        parts.append(sql("ORDER BY ", joined(", ", keys)))
    if message.HasField("frame_spec"):
        frame = message.frame_spec
        rows = frame.frame_type == frame.FRAME_TYPE_ROW
        low, high = (
            _boundary(each, scope, first=first)
            for each, first in ((frame.lower, True), (frame.upper, False))
        )
        parts.append(sql(f"{'ROWS' if rows else 'RANGE'} BETWEEN ", low, " AND ", high))
    function = expression(message.window_function, scope)
    return sql(function, " OVER (", joined(" ", parts), ")", site=site)


def _boundary(message: Any, scope: Scope, *, first: bool) -> Fragment:
    if message.WhichOneof("boundary") == "current_row":
        return sql("CURRENT ROW")
    if message.WhichOneof("boundary") == "unbounded":
        return sql("UNBOUNDED PRECEDING" if first else "UNBOUNDED FOLLOWING")
    value = message.value
    if value.WhichOneof("expr_type") == "literal":
        kind = value.literal.WhichOneof("literal_type")
        if kind in ("integer", "long"):
            number = getattr(value.literal, kind)
            return sql(
                f"{abs(number)} {'PRECEDING' if number < 0 else 'FOLLOWING'}"
                if number
                else "CURRENT ROW"
            )
    raise NoSql("a boundary of a window that is not a whole number")


def _code(message: Any, scope: Scope, site: Site | None) -> Fragment:
    """A function of Python: its declared result is believed, and may always be null."""
    kind = message.WhichOneof("function")
    if kind == "python_udf":
        code = message.python_udf
        returns, aggregate = type_of(code.output_type), code.eval_type in _AGGREGATE_EVALUATIONS
        digest = code_digest(code.command)
    elif kind == "java_udf" and message.java_udf.HasField("output_type"):
        returns, aggregate = type_of(message.java_udf.output_type), message.java_udf.aggregate
        digest = message.java_udf.class_name.encode()
    else:
        raise NoSql(f"a function of the kind `{kind}`")
    name = scope.lowering.function(
        message.function_name,
        returns,
        digest,
        aggregate=aggregate,
        deterministic=None if message.deterministic else False,
    )
    return sql(f"{name}(", _listed(message.arguments, scope), ")", site=site)


def _subquery(message: Any, scope: Scope, site: Site | None) -> Fragment:
    layer = scope.lowering.by_plan.get(message.plan_id)
    if layer is None or not layer.known:
        raise NoSql("a subquery that reads the row around it")
    scope.lowering.subqueries.append(layer)
    inner = sql(
        f"(SELECT {', '.join(written(each.sql) for each in layer.visible)} FROM {layer.name})"
    )
    if message.subquery_type == message.SUBQUERY_TYPE_SCALAR:
        return sql(inner, site=site)
    if message.subquery_type == message.SUBQUERY_TYPE_EXISTS:
        return sql("EXISTS ", inner, site=site)
    if message.subquery_type == message.SUBQUERY_TYPE_IN:
        return sql("((", _listed(message.in_subquery_values, scope), ") IN ", inner, ")", site=site)
    raise NoSql("a table as an argument")


def _order(message: Any, scope: Scope, site: Site | None) -> Fragment:
    return scope.mistake(
        Code.INVALID_CLAUSE,
        "an ordering is not a value",
        site,
        None,
        "`asc()` and `desc()` belong into `orderBy`, `sort` and windows",
    )


_FORMS: Final[dict[str, Rule]] = {
    "when": _case,
    "in": _in,
    "not": _prefixed("(NOT ", ")"),
    "!": _prefixed("(NOT ", ")"),
    "~": _prefixed("(~ ", ")"),
    "isnull": _prefixed("(", " IS NULL)"),
    "isnotnull": _prefixed("(", " IS NOT NULL)"),
    "struct": _struct,
}

_RULES: Final[dict[str | None, Rule]] = {
    "literal": _literal,
    "unresolved_attribute": _attribute,
    "unresolved_function": _function,
    "expression_string": _text,
    "unresolved_star": _star,
    "alias": _alias,
    "cast": _cast,
    "sort_order": _order,
    "lambda_function": _lambda,
    "window": _window,
    "unresolved_extract_value": _element,
    "update_fields": _update,
    "unresolved_named_lambda_variable": _variable,
    "common_inline_user_defined_function": _code,
    "call_function": _call,
    "named_argument_expression": _named_argument,
    "subquery_expression": _subquery,
}
