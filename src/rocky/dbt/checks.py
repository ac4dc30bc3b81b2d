"""Tests of a dbt project: assertions where Rocky has the same, else queries for what is wrong."""

import re
from collections.abc import Callable, Mapping
from typing import Any, Final, NamedTuple

from rocky.dbt.incremental import names_of
from rocky.dbt.lookups import find_node, find_source
from rocky.dbt.sandbox import Sandbox
from rocky.dbt.templates import Rendered, render_text
from rocky.dbt.values import DbtProject, GenericTest, Node
from rocky.language.names import bare_name

_IDENTIFIER: Final = re.compile(r"\w+")
_CALL: Final = re.compile(r"""\s*(?:\{\{\s*)?(ref|source)\((.*?)\)(?:\s*\}\})?\s*""", re.DOTALL)
_STRING: Final = re.compile(r"""['"]([^'"]+)['"]""")
_UTILS: Final = "dbt_utils"
_UNUSUAL: Final = (("fail_calc", "count(*)"), ("error_if", "!= 0"), ("warn_if", "!= 0"))


class Assertion(NamedTuple):
    """An assertion as a sidecar has it."""

    settings: dict[str, Any]


def translate_test(project: DbtProject, node: Node, call: GenericTest) -> Assertion | None:
    """The assertion that is the same as a generic test; None where there is none."""
    if any(str(node.config.get(key) or usual) != usual for key, usual in _UNUSUAL):
        return None
    rule = _RULES.get(call.name)
    if rule is None or (call.namespace not in (None, "dbt", _UTILS)):
        return None
    found = rule(project, call.arguments)
    if found is None:
        return None
    condition = node.config.get("where")
    if condition:
        if "{" in str(condition):
            return None
        found["filter"] = str(condition)
    if is_warning(node):
        found["severity"] = "warning"
    return Assertion(found)


def is_warning(node: Node) -> bool:
    return str(node.config.get("severity") or "error").lower() == "warn"


def render_test(project: DbtProject, node: Node, sandbox: Sandbox) -> Rendered:
    """The query of a test, whose rows are what is wrong: of a generic one, what its macro makes."""
    call = node.test
    if call is None:
        return render_text(project, node, sandbox, node.text)
    arguments = []
    for name, value in call.arguments.items():
        if name != "model":
            arguments.append(f"{name}={_argument(value)}")
    attached = project.nodes.get(call.attached)
    source = project.sources.get(call.attached)
    table = f"ref('{attached.name}')" if attached else ""
    if source is not None:
        table = f"source('{source.group}', '{source.name}')"
    condition = node.config.get("where")
    if condition:
        inner = f"(select * from {{{{ {table} }}}} where {condition}) dbt_subquery"  # noqa: S608 - it is written, not run
        start = f"{{% set _rows %}}{inner}{{% endset %}}"
        table = "_rows"
    else:
        start = ""
    macro = f"test_{call.name}" if call.namespace is None else f"{call.namespace}.test_{call.name}"
    text = f"{start}{{{{ {macro}(model={table}, {', '.join(arguments)}) }}}}"
    return render_text(project, node, sandbox, text)


def _argument(value: Any) -> str:
    """An argument as an expression of Jinja: a relation that is named, or a value."""
    if isinstance(value, str):
        found = _CALL.fullmatch(value)
        if found is not None:
            names = ", ".join(repr(each) for each in _STRING.findall(found[2]))
            return f"{found[1]}({names})"
    if isinstance(value, list):
        return f"[{', '.join(map(_argument, value))}]"
    if isinstance(value, Mapping):
        return f"{{{', '.join(f'{key!r}: {_argument(each)}' for key, each in value.items())}}}"
    return repr(value)


def table_named(project: DbtProject, written: Any) -> str | None:
    """What Rocky calls the relation that a text such as `ref('orders')` names."""
    found = _CALL.fullmatch(str(written))
    if found is None:
        return None
    names = _STRING.findall(found[2])
    if found[1] == "source" and len(names) > 1:
        source = find_source(project, names[0], names[1])
        return source.table if source else None
    node = find_node(project, names[-1]) if names else None
    return node.table if node else None


def _on_column(
    kind: str, expression: str
) -> Callable[[DbtProject, Mapping[str, Any]], dict[str, Any] | None]:
    """A rule about one column; about an expression it is a condition on it."""

    def rule(_: DbtProject, given: Mapping[str, Any]) -> dict[str, Any] | None:
        column = bare_name(str(given.get("column_name") or ""))
        if not column:
            return None
        if _IDENTIFIER.fullmatch(column):
            return {"type": kind, "column": column}
        if kind == "unique":
            return {"type": "unique_expr", "key_expr": column}
        return {"type": "expression", "expression": expression.format(column)}

    return rule


def _accepted(_: DbtProject, given: Mapping[str, Any]) -> dict[str, Any] | None:
    values, column = given.get("values"), bare_name(str(given.get("column_name") or ""))
    if not isinstance(values, list) or not _IDENTIFIER.fullmatch(column):
        return None
    return {"type": "accepted_values", "column": column, "values": values}


def _relationships(project: DbtProject, given: Mapping[str, Any]) -> dict[str, Any] | None:
    to = table_named(project, given.get("to"))
    column, field = str(given.get("column_name") or ""), str(given.get("field") or "")
    if to is None or not _IDENTIFIER.fullmatch(column) or not _IDENTIFIER.fullmatch(field):
        return None
    return {"type": "relationships", "column": column, "to_table": to, "to_column": field}


def _combination(_: DbtProject, given: Mapping[str, Any]) -> dict[str, Any] | None:
    columns = names_of(given.get("combination_of_columns"))
    plain = columns and all(_IDENTIFIER.fullmatch(each) for each in columns)
    return {"type": "composite", "columns": columns} if plain else None


def _expression(_: DbtProject, given: Mapping[str, Any]) -> dict[str, Any] | None:
    said = str(given.get("expression") or "")
    column = str(given.get("column_name") or "")
    if not said or "{" in said:
        return None
    return {"type": "expression", "expression": f"{column} {said}".strip()}


def _range(_: DbtProject, given: Mapping[str, Any]) -> dict[str, Any] | None:
    low, high = given.get("min_value"), given.get("max_value")
    column = str(given.get("column_name") or "")
    plain = all(each is None or isinstance(each, int | float) for each in (low, high))
    if not plain or given.get("inclusive") is False or not _IDENTIFIER.fullmatch(column):
        return None
    return {"type": "in_range", "column": column, "min": low, "max": high}


_RULES: Final[Mapping[str, Callable[[DbtProject, Mapping[str, Any]], dict[str, Any] | None]]] = {
    "unique": _on_column("unique", ""),
    "not_null": _on_column("not_null", "({}) IS NOT NULL"),
    "accepted_values": _accepted,
    "relationships": _relationships,
    "unique_combination_of_columns": _combination,
    "expression_is_true": _expression,
    "accepted_range": _range,
}
