"""From a syntax node to the text Spark prints for it in a generated name.

The text is of the *resolved* expression: `a <> 1` prints as `(NOT (a = 1))`, so some printers ask
for types. Casts Spark adds by itself never show, and columns lose their qualifier. Most functions
print the name the author wrote, aliases included: `mean(x)` is not `avg(x)`; the tables of those
that do not were found by asking Spark's analyser. `output_names` fills in the other printers.
"""

import re
from collections.abc import Callable, Iterable
from typing import Any, Final

from sqlglot import exp

from rocky.language.binder.expr import Expr
from rocky.language.binder.expressions.columns import BARE_FUNCTIONS
from rocky.language.binder.scopes import Scope, bind_expression, suppress_findings
from rocky.language.datatypes import types as t
from rocky.language.functions.operand import NO_VALUE

Printer = Callable[[Any, Scope], str]

_STRETCH: Final = 200
_OPENING: Final = re.compile(r"(?:\b\w+\s+)?(?:\b\w+\s*\(|[\s(+~-])*$")

PRINTERS: dict[type, Printer] = {}


def pretty(node: Any, scope: Scope) -> str:
    """The node as Spark prints it, or as it was written where no printer knows it."""
    printer = PRINTERS.get(node.__class__)
    if printer is not None:
        return printer(node, scope)
    return written_text(node, scope)


def pretty_list(nodes: Iterable[Any], scope: Scope) -> str:
    return ", ".join([pretty(node, scope) for node in nodes])


def written_text(node: exp.Expr, scope: Scope) -> str:
    """The source text of a node."""
    span = scope.binding.span(node)
    return scope.binding.text[span.start : span.end] if span is not None else "col"


def place_of(node: exp.Expr) -> int | None:
    """Where the first of a node's words stands, if the parser library kept any."""
    starts = [each._meta["start"] for each in node.walk() if each._meta and "start" in each._meta]
    return min(starts) if starts else None


def text_before(node: exp.Expr, scope: Scope) -> str:
    """A stretch of the source that ends where the first word of a node begins."""
    at = place_of(node)
    return scope.binding.text[max(0, at - _STRETCH) : at] if at is not None else ""


def opening_before(node: exp.Expr, scope: Scope) -> str:
    """The names and parentheses that open before the first word of a node: `not upper(trim(`."""
    found = _OPENING.search(text_before(node, scope))
    return found[0] if found is not None else ""


def bind_quietly(node: exp.Expr, scope: Scope) -> Expr:
    """The typed expression, when it was bound and reported on before: nothing is noted again."""
    with suppress_findings(scope.binding):
        return bind_expression(node, scope)


CAPITALS: Final = frozenset(
    "acos acosh asin asinh atan atan2 atanh cbrt cos cosh cot csc degrees dense_rank e exp expm1 "
    "hypot log log10 log1p log2 percent_rank pi power radians rank regexp regexp_like rlike sec "
    "signum sin sinh spark_partition_id sqrt tan tanh".split()
)

RENAMED: Final = {
    "array_agg": "collect_list",
    "curdate": "current_date",
    "current_database": "current_schema",
    "random": "rand",
}

# Functions that print as a cast nobody wrote: only their argument.
UNSEEN_CASTS: Final = frozenset(
    "bigint binary boolean date decimal double float int smallint string time timestamp "
    "tinyint".split()
)

# How many arguments are printed; the others are settings of the function.
KEPT: Final = {
    name: count
    for count, names in {
        0: "dense_rank percent_rank rank uuid",
        1: "any_value approx_count_distinct first first_value from_csv from_json from_xml "
        "hour last last_value minute schema_of_csv schema_of_json schema_of_xml second "
        "shuffle to_csv to_json to_xml",
        2: "ilike try_variant_get variant_get",
        6: "try_make_timestamp",
    }.items()
    for name in names.split()
}

_SECONDS: Final = "yyyy-MM-dd HH:mm:ss"
_SIX_ZEROS: Final = "0.000000"

# The arguments Spark fills in: how many are always written, then the rest.
FILLED: Final[dict[str, tuple[int, tuple[str, ...]]]] = {
    "aes_decrypt": (2, ("GCM", "DEFAULT", "")),
    "aes_encrypt": (2, ("GCM", "DEFAULT", "", "")),
    "approx_percentile": (2, ("10000",)),
    "approx_top_k": (1, ("5", "10000")),
    "approx_top_k_accumulate": (1, ("10000",)),
    "approx_top_k_estimate": (1, ("5",)),
    "bround": (1, ("0",)),
    "current_time": (0, ("6",)),
    "from_unixtime": (1, (_SECONDS,)),
    "hll_sketch_agg": (1, ("12",)),
    "hll_union": (2, ("false",)),
    "hll_union_agg": (1, ("false",)),
    "lag": (0, ("NULL", "1", "NULL")),
    "lead": (0, ("NULL", "1", "NULL")),
    "listagg": (1, ("NULL",)),
    "locate": (2, ("1",)),
    "lpad": (2, (" ",)),
    "make_dt_interval": (0, ("0", "0", "0", _SIX_ZEROS)),
    "make_interval": (0, ("0", "0", "0", "0", "0", "0", _SIX_ZEROS)),
    "make_ym_interval": (0, ("0", "0")),
    "mask": (1, ("X", "x", "n", "NULL")),
    "months_between": (2, ("true",)),
    "ntile": (0, ("1",)),
    "overlay": (3, ("-1",)),
    "percentile": (2, ("1",)),
    "percentile_approx": (2, ("10000",)),
    "position": (2, ("1",)),
    "regexp_extract": (2, ("1",)),
    "regexp_extract_all": (2, ("1",)),
    "regexp_instr": (2, ("0",)),
    "regexp_replace": (3, ("1",)),
    "replace": (2, ("",)),
    "round": (1, ("0",)),
    "rpad": (2, (" ",)),
    "sentences": (1, ("", "")),
    "sort_array": (1, ("true",)),
    "split": (2, ("-1",)),
    "str_to_map": (1, (",", ":")),
    "string_agg": (1, ("NULL",)),
    "substr": (2, ("2147483647",)),
    "substring": (2, ("2147483647",)),
    "theta_sketch_agg": (1, ("12",)),
    "theta_union": (2, ("12",)),
    "theta_union_agg": (1, ("12",)),
    "to_unix_timestamp": (1, (_SECONDS,)),
    "try_aes_decrypt": (2, ("GCM", "DEFAULT", "")),
    "try_make_interval": (0, ("0", "0", "0", "0", "0", "0", _SIX_ZEROS)),
    "unix_timestamp": (0, ("current_timestamp()", _SECONDS)),
}

_V: Final = "namedlambdavariable()"
_COMPARED: Final = (
    f"(IF((({_V} IS NULL) AND ({_V} IS NULL)), 0, (IF(({_V} IS NULL), 1, (IF(({_V} IS NULL), -1, "
    f"(IF(({_V} < {_V}), -1, (IF(({_V} > {_V}), 1, 0))))))))))"
)

# Calls printed in a form of their own, by name and number of arguments.
SHAPES: Final[dict[tuple[str, int], str]] = {
    ("aggregate", 3): f"aggregate({{0}}, {{1}}, {{2}}, lambdafunction({_V}, {_V}))",
    ("and", 2): "({0} AND {1})",
    ("array_sort", 1): f"array_sort({{0}}, lambdafunction({_COMPARED}, {_V}, {_V}))",
    ("assert_true", 1): "assert_true({0}, '{0}' is not true!)",
    ("ceil", 1): "CEIL({0})",
    ("convert_timezone", 2): "convert_timezone(current_timezone(), {0}, {1})",
    ("dateadd", 2): "date_add({0}, {1})",
    ("datepart", 2): "datepart({0} FROM {1})",
    ("div", 2): "({0} div {1})",
    ("extract", 2): "extract({0} FROM {1})",
    ("floor", 1): "FLOOR({0})",
    ("if", 3): "(IF({0}, {1}, {2}))",
    ("isnotnull", 1): "({0} IS NOT NULL)",
    ("isnull", 1): "({0} IS NULL)",
    ("like", 2): "{0} LIKE {1}",
    ("like", 3): "{0} LIKE {1} ESCAPE '{2}'",
    ("log", 1): "LOG(E(), {0})",
    ("ltrim", 2): "TRIM(LEADING {0} FROM {1})",
    ("make_timestamp_ltz", 2): "make_timestamp({0}, {1})",
    ("make_timestamp_ltz", 3): "make_timestamp({0}, {1}, {2})",
    ("not", 1): "(NOT {0})",
    ("or", 2): "({0} OR {1})",
    ("positive", 1): "(+ {0})",
    ("raise_error", 1): "raise_error(USER_RAISED_EXCEPTION, map(errorMessage, {0}))",
    ("reduce", 3): f"reduce({{0}}, {{1}}, {{2}}, lambdafunction({_V}, {_V}))",
    ("rtrim", 2): "TRIM(TRAILING {0} FROM {1})",
    ("session_window", 2): "session_window",
    ("trim", 2): "TRIM(BOTH {0} FROM {1})",
    ("try_make_timestamp_ltz", 2): "make_timestamp({0}, {1})",
    ("try_make_timestamp_ltz", 3): "make_timestamp({0}, {1}, {2})",
    ("try_make_timestamp_ntz", 2): "try_make_timestamp_ntz(make_timestamp_ntz({0}, {1}))",
    ("try_to_time", 1): "try_to_time(to_time({0}))",
    ("try_to_time", 2): "try_to_time(to_time({0}, {1}))",
    ("when", 2): "CASE WHEN {0} THEN {1} END",
    ("when", 3): "CASE WHEN {0} THEN {1} ELSE {2} END",
    ("window", 2): "window",
    ("window", 3): "window",
    ("window", 4): "window",
}

# With a unit of time as the first of three arguments these are one function.
UNIT_CALLS: Final = {
    "date_add": "timestampadd",
    "date_diff": "timestampdiff",
    "dateadd": "timestampadd",
    "datediff": "timestampdiff",
    "timediff": "timestampdiff",
    "timestampadd": "timestampadd",
    "timestampdiff": "timestampdiff",
}

OPERATOR_NAMES: Final = frozenset(
    {"%", "&", "*", "+", "-", "/", "<", "<=", "<=>", "=", "==", ">", ">=", "^", "|"}
)


def call_text(key: str, args: list[str]) -> str:
    """The text of a call whose arguments are printed."""
    shape = SHAPES.get((key, len(args)))
    if shape is not None:
        return shape.format(*args)
    if key in UNSEEN_CASTS and len(args) == 1:
        return args[0]
    if len(args) == 2 and key in OPERATOR_NAMES:
        return f"({args[0]} {'=' if key == '==' else key} {args[1]})"
    filled = FILLED.get(key)
    if filled is not None and len(args) >= filled[0]:
        args = [*args, *filled[1][len(args) - filled[0] :]]
    kept = KEPT.get(key)
    if kept is not None:
        args = args[:kept]
    name = key.upper() if key in CAPITALS else RENAMED.get(key, key)
    return f"{name}({', '.join(args)})"


LAMBDA_VARIABLE: Final = "namedlambdavariable()"


def print_column(node: exp.Column, scope: Scope) -> str:
    """A name of one or more parts."""
    args = node.args
    if args["this"].__class__ is exp.Star:
        return "*"
    words = [str(args[part].name) for part in ("catalog", "db", "table", "this") if args.get(part)]
    return name_text(words, scope)


def name_text(words: list[str], scope: Scope) -> str:
    keys = tuple([word.lower() for word in words])
    if scope.lambdas is not None and keys[0] in scope.lambdas:
        return _with_fields(LAMBDA_VARIABLE, scope.lambdas[keys[0]].type, words[1:])
    columns, used = scope.relation.find(keys)
    if columns:
        return _with_fields(words[used - 1], columns[0].type, words[used:])
    if scope.aliases is not None and keys[0] in scope.aliases:
        alias = f"lateralAliasReference({words[0]})"
        return _with_fields(alias, scope.aliases[keys[0]][0].type, words[1:])
    outer = scope.parent
    while outer is not None:
        columns, used = outer.relation.find(keys)
        if columns:
            path = ".".join((*columns[0].qualifier, words[used - 1]))
            return _with_fields(f"outer({path})", columns[0].type, words[used:])
        outer = outer.parent
    if len(words) == 1 and keys[0] in BARE_FUNCTIONS and keys[0] != "grouping__id":
        return call_text("current_user" if keys[0] == "session_user" else keys[0], [])
    return words[-1]


def _with_fields(text: str, kind: t.DataType, fields: list[str]) -> str:
    for field in fields:
        text, kind = _step(text, kind, field)
    return text


def _step(text: str, kind: t.DataType, field: str) -> tuple[str, t.DataType]:
    if isinstance(kind, t.MapType):
        return f"{text}[{field}]", kind.value
    inner = kind.element if isinstance(kind, t.ArrayType) else kind
    if isinstance(inner, t.StructType):
        for each in inner.fields:
            if each.name.lower() == field.lower():
                found = t.array(each.type) if inner is not kind else each.type
                return f"{text}.{field}", found
    return f"{text}.{field}", t.UNKNOWN


def print_identifier(node: exp.Identifier, scope: Scope) -> str:
    """A bare word inside a lambda."""
    return name_text([str(node.args["this"])], scope)


def print_dot(node: exp.Dot, scope: Scope) -> str:
    right = node.args["expression"]
    if right.__class__ is not exp.Identifier:
        return pretty(right, scope)
    base = node.args["this"]
    text = pretty(base, scope)
    return _step(text, bind_quietly(base, scope).type, str(right.args["this"]))[0]


def print_bracket(node: exp.Bracket, scope: Scope) -> str:
    base = node.args["this"]
    text = pretty(base, scope)
    keys = node.args["expressions"]
    if len(keys) == 1 and bind_quietly(keys[0], scope).value is not NO_VALUE:
        kind = bind_quietly(base, scope).type
        structs = isinstance(kind, t.ArrayType) and isinstance(kind.element, t.StructType)
        if isinstance(kind, t.StructType) or (structs and keys[0].args.get("is_string")):
            return f"{text}.{pretty(keys[0], scope)}"
    return text + "".join(f"[{pretty(key, scope)}]" for key in keys)


COLUMN_PRINTERS: Final[dict[type, Any]] = {
    exp.Column: print_column,
    exp.Identifier: print_identifier,
    exp.Dot: print_dot,
    exp.Bracket: print_bracket,
}
