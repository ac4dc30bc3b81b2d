"""A query that dbt has compiled, with names that Rocky knows in the place of its relations."""

import re
from collections.abc import Mapping
from typing import Final, NamedTuple

from rocky.dbt.cte_names import find_ctes, is_inside
from rocky.dbt.lookups import stands_for
from rocky.dbt.templates import tidy
from rocky.dbt.values import DbtProject, Node

_SKIPPED: Final = r"--[^\n]*|/\*.*?(?:\*/|\Z)|'(?:[^'\\]|\\.)*'?|\"(?:[^\"\\]|\\.)*\"?"
_PART: Final = r"(?:`[^`]+`|\w+)"
_NAME: Final = re.compile(f"(?P<skip>{_SKIPPED})|(?P<name>{_PART}(?:\\.{_PART})*)", re.DOTALL)
_EMPTY_WITH: Final = re.compile(r"\bwith\s*,", re.IGNORECASE)
_ONLY_WITH: Final = re.compile(r"\bwith\s+(?=(?:select|\()\b)", re.IGNORECASE)


class Compiled(NamedTuple):
    """The query, and whether it reads the table that it makes."""

    sql: str
    reads_itself: bool


def translate_compiled(project: DbtProject, node: Node) -> Compiled:
    """What dbt has compiled, over names."""
    names = _names(project)
    text = without_ctes(node)
    ctes = find_ctes(text)
    itself = False

    def name(found: re.Match[str]) -> str:
        nonlocal itself
        if found["skip"] is not None:
            return found.group()
        written = found["name"].replace("`", "").lower()
        if node.relation and written == node.relation.replace("`", "").lower():
            itself = True
        short = names.get(written, found.group())
        spans = ctes.get(short.lower())
        if spans is not None and "." in written and not is_inside(found.start(), spans):
            # A CTE has the name: the table is called by its full one, which Rocky knows too.
            return found.group()
        return short

    return Compiled(tidy(_NAME.sub(name, text)), itself)


def without_ctes(node: Node) -> str:
    """The compiled text without the queries of ephemeral models, which dbt puts in front."""
    text = node.compiled or ""
    for each in node.ctes:
        text = text.replace(each.strip(), "", 1)
    if node.ctes:
        while (shorter := re.sub(r"(\bwith\s*),\s*,", r"\1,", text, flags=re.IGNORECASE)) != text:
            text = shorter
        text = _EMPTY_WITH.sub("with", text, count=1)
        text = _ONLY_WITH.sub("", text, count=1)
    return text


def _names(project: DbtProject) -> Mapping[str, str]:
    """Names by the relations of dbt, in lower case."""
    found: dict[str, str] = {}
    for node in project.nodes.values():
        if node.kind == "test":
            continue
        found[f"__dbt__cte__{node.table}".lower()] = node.table
        if node.relation:
            found[node.relation.replace("`", "").lower()] = node.table
    for source in project.sources.values():
        same = stands_for(project, source)
        found.setdefault(source.relation.lower(), same.table if same else source.table)
    return found
