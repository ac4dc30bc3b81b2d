"""Printing names: columns without their qualifier, fields with a dot, elements in brackets.

A name that means an alias of the same select list, a lambda's parameter or a column of the outer
query prints as Spark's placeholder for it.
"""

from typing import Any, Final

from sqlglot import exp

from rocky.binder.columns import BARE_FUNCTIONS
from rocky.binder.pretty import bind_quietly, pretty
from rocky.binder.pretty_names import call_text
from rocky.binder.scopes import Scope
from rocky.catalog.operand import NO_VALUE
from rocky.datatypes import types as t

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
