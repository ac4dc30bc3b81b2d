"""Expressions of a plan as SQL: one rule a kind, in the tables at the end.

A rule takes the message and the scope and gives a fragment, which knows how tightly it binds:
parentheses are written where a person would need them, so that the same query has the same text.
"""

from collections.abc import Callable
from typing import Any, Final

from rocky.diagnostics import Code
from rocky.frames.code_digest import code_digest
from rocky.frames.fragments import ATOM, COMPARED, NOT, Fragment, joined, operand, sql, text_level
from rocky.frames.layers import written
from rocky.frames.literals import NoSql, literal_sql, parsed_type, type_of
from rocky.frames.lowering import GEO_SETTING, TIME_SETTING, Lowering, refuse_setting
from rocky.frames.operators import INFIX, infix
from rocky.frames.scope import Scope
from rocky.frames.sites import Site, site_of
from rocky.frames.struct_fields import changed_struct
from rocky.language.datatypes import types as t
from rocky.language.datatypes.text import format_type
from rocky.language.names import split_name

Rule = Callable[[Any, Scope, Site | None], Fragment]

_SEEDED: Final = frozenset({"rand", "randn", "random", "uuid"})
_LARGEST_SEED: Final = 1 << 32
_AGGREGATE_EVALUATIONS: Final = frozenset({202, 203, 252, 253})
"""Evaluation types of PySpark whose functions take groups of rows."""


_MAKE_TIMES: Final = frozenset({"make_time", "to_time", "try_to_time"})
_NAMED: Final = "named_argument_expression"


def expression(message: Any, scope: Scope) -> Fragment:
    """The SQL of an expression that may stand anywhere."""
    return operand(bare_expression(message, scope))


def bare_expression(message: Any, scope: Scope) -> Fragment:
    """The SQL of an expression between commas or keywords; an unknown where there is none."""
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
    words = " DESC" if down else ""
    if last != down:
        words += " NULLS LAST" if last else " NULLS FIRST"
    return sql(bare_expression(message.child, scope), words)


def _listed(messages: Any, scope: Scope) -> Fragment:
    return joined(", ", [bare_expression(each, scope) for each in messages])


def _literal(message: Any, scope: Scope, site: Site | None) -> Fragment:
    return sql(literal_sql(message), site=site)


def _attribute(message: Any, scope: Scope, site: Site | None) -> Fragment:
    if message.is_metadata_column:
        raise NoSql("a metadata column")
    plan_id = message.plan_id if message.HasField("plan_id") else None
    return scope.attribute(message.unparsed_identifier, plan_id, site)


def _text(message: Any, scope: Scope, site: Site | None) -> Fragment:
    found, _, star = scope.text(message.expression, site)
    if star:
        return found
    end = "\n" if "--" in message.expression else ""
    return sql(found, end, site=site, level=text_level(message.expression))


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
    return bare_expression(message.expr, scope)


def _cast(message: Any, scope: Scope, site: Site | None) -> Fragment:
    written_type = message.WhichOneof("cast_to_type") == "type_str"
    kind = parsed_type(message.type_str) if written_type else type_of(message.type)
    if isinstance(kind, t.TimeType):
        refuse_setting(scope.lowering, "a cast to `time`", TIME_SETTING, site)
    word = "TRY_CAST" if message.eval_mode == message.EVAL_MODE_TRY else "CAST"
    return sql(
        f"{word}(", bare_expression(message.expr, scope), f" AS {format_type(kind)})", site=site
    )


def _function(message: Any, scope: Scope, site: Site | None) -> Fragment:
    name, arguments = message.function_name, message.arguments
    if message.is_internal:
        raise NoSql(f"the internal function `{name}`")
    if name.lower().startswith("st_"):
        refuse_setting(scope.lowering, f"`{name}`", GEO_SETTING, site)
    if name.lower() in _MAKE_TIMES:
        refuse_setting(scope.lowering, f"`{name}`", TIME_SETTING, site)
    form = _FORMS.get(name.lower())
    if form is not None:
        return form(message, scope, site)
    if name in INFIX and len(arguments) == 2:
        return infix(INFIX[name], [bare_expression(each, scope) for each in arguments], site)
    if name.lower() == "count" and _is_star(arguments) and not message.is_distinct:
        return sql("count(*)", site=site)  # of rows, whatever is null in them
    given = () if _is_seed(name, arguments) else arguments
    distinct = "DISTINCT " if message.is_distinct else ""
    return sql(f"{name}({distinct}", _listed(given, scope), ")", site=site)


def _is_star(arguments: Any) -> bool:
    kinds = [each.WhichOneof("expr_type") for each in arguments]
    return kinds == ["unresolved_star"] and not arguments[0].unresolved_star.unparsed_target


def _is_seed(name: str, arguments: Any) -> bool:
    """Whether the client has made up the only argument: it does so where the author gave none.

    What it makes up is anywhere in 63 bits, what people write is small.
    """
    if name.lower() not in _SEEDED or len(arguments) != 1:
        return False
    return arguments[0].literal.long > _LARGEST_SEED


def _case(message: Any, scope: Scope, site: Site | None) -> Fragment:
    given = [bare_expression(each, scope) for each in message.arguments]
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
    found = operand(bare_expression(value, scope), COMPARED + 1)
    return sql(found, " IN (", _listed(options, scope), ")", site=site, level=COMPARED)


def _prefixed(before: str, after: str, level: int) -> Rule:
    def rule(message: Any, scope: Scope, site: Site | None) -> Fragment:
        if len(message.arguments) != 1:
            raise NoSql(f"`{message.function_name}` of {len(message.arguments)} arguments")
        value = operand(bare_expression(message.arguments[0], scope), level + 1)
        return sql(before, value, after, site=site, level=level)

    return rule


def _unit(message: Any, scope: Scope, site: Site | None) -> Fragment:
    """`timestampadd` and `timestampdiff`, whose unit is a word in SQL."""
    first, *rest = message.arguments
    unit = first.literal.string
    if not unit.isidentifier():
        raise NoSql(f"`{message.function_name}` of a unit that is no word")
    return sql(f"{message.function_name}({unit}, ", _listed(rest, scope), ")", site=site)


def _product(message: Any, scope: Scope, site: Site | None) -> Fragment:
    """`product`, which SQL does not have; it takes what can be a double."""
    for each in message.arguments:
        kind, _ = scope.lowering.type_of(expression(each, scope), scope.source)
        if kind is not t.UNKNOWN and not (t.is_numeric(kind) or isinstance(kind, t.StringType)):
            condition = "DATATYPE_MISMATCH.UNEXPECTED_INPUT_TYPE"
            return scope.mistake(
                Code.TYPE_ERROR, f"`product` of `{kind}`: it takes numbers", site, condition
            )
    name = scope.lowering.function("product", t.DOUBLE, b"product", aggregate=True)
    return sql(f"{name}(", _listed(message.arguments, scope), ")", site=site)


def _unknown(reason: str) -> Rule:
    def rule(message: Any, scope: Scope, site: Site | None) -> Fragment:
        raise NoSql(reason)

    return rule


def _struct(message: Any, scope: Scope, site: Site | None) -> Fragment:
    """`struct(...)`: an alias inside names a field."""
    parts = []
    for each in message.arguments:
        value = bare_expression(each, scope)
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
    new = (
        expression(message.value_expression, scope)
        if message.HasField("value_expression")
        else None
    )
    found = scope.lowering.type_of(value, scope.source)
    return changed_struct(value, found, (list(split_name(message.field_name)), new), scope, site)


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
    named = tuple(
        each.named_argument_expression.key or f"a{at}" for at, each in enumerate(message.arguments)
    )
    plain = all(each.WhichOneof("expr_type") != _NAMED for each in message.arguments)
    name = declared_code(message, scope.lowering, message.function_name, () if plain else named)
    return sql(f"{name}(", _listed(message.arguments, scope), ")", site=site)


def declared_code(
    message: Any, lowering: Lowering, called: str, parameters: tuple[str, ...] = ()
) -> str:
    """The name in SQL of a function of Python or Java. Raises NoSql."""
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
    return lowering.function(
        called,
        returns,
        digest,
        parameters=parameters,
        aggregate=aggregate,
        deterministic=None if message.deterministic else False,
    )


def _subquery(message: Any, scope: Scope, site: Site | None) -> Fragment:
    relation = scope.lowering.references.get(message.plan_id)
    if relation is None:
        raise NoSql("a subquery that the plan does not hold")
    layer, query = scope.lowering.inner_query(relation, scope)
    if not layer.known:
        raise NoSql("a subquery of unknown columns")
    inner = sql("(", query, ")")
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
    "not": _prefixed("NOT ", "", NOT),
    "!": _prefixed("NOT ", "", NOT),
    "~": _prefixed("(~ ", ")", ATOM),
    "isnull": _prefixed("", " IS NULL", COMPARED),
    "isnotnull": _prefixed("", " IS NOT NULL", COMPARED),
    "struct": _struct,
    "product": _product,
    "unwrap_udt": _unknown("a type that its own code defines"),
    "timestampadd": _unit,
    "timestampdiff": _unit,
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
