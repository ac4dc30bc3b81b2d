"""What a project declares beside its models: seeds, sources, settings."""

import re
from collections.abc import Mapping
from typing import Any, Final

from rocky.dbt.freshness import source_freshness
from rocky.dbt.package_files import read_node
from rocky.dbt.remarks import Remark, Taken, judge
from rocky.dbt.settings import describe_node, plain_meta, spark_type
from rocky.dbt.toml_text import Block, Inline, format_toml
from rocky.dbt.values import Column, DbtProject, Node, Source

NAME: Final = re.compile(r"\w+")
"""What a model or a seed can be called."""
_SETTINGS: Final = """\
[adapter]
type = "spark"
warehouse = "warehouse"

[pipeline.{name}]
type = "transformation"
models = "models/**"

[pipeline.{name}.target]
schema = "{schema}"

# Sources have no columns yet: `rocky discover --write` asks Spark for them. Then take this out.
[compile]
undeclared = "unknown"
"""
_IGNORED: Final = b"warehouse/\n.rocky*\n"


def seed_files(project: DbtProject, node: Node) -> tuple[dict[str, bytes], Taken]:
    """The files of a seed."""
    data = read_node(project, node)
    if data is None or NAME.fullmatch(node.table) is None:
        why = Remark("its file cannot be read below the project's folder", needs_hand=True)
        return {}, Taken("seed", node.table, node.path, None, "needs_hand", (why,))
    columns, said = [], []
    for name, kind in _types(node).items():
        found = spark_type(Column(str(name), type=str(kind)))
        if found is None:
            said.append(Remark(f"`{name}` has an inferred type: Spark knows no `{kind}`"))
            continue
        columns.append(Inline({"name": str(name), "type": found}))
    delimiter = node.config.get("delimiter")
    sidecar = describe_node(project, node, node.config)
    sidecar |= {"columns": columns, "delimiter": delimiter if delimiter != "," else None}
    # Always, because a seed answers to its full name only where its sidecar says it.
    sidecar["target"] = {**sidecar["target"], "schema": node.schema}
    files = {f"seeds/{node.table}.csv": data}
    text = format_toml(ordered(sidecar))
    if text:
        files[f"seeds/{node.table}.toml"] = text.encode("utf-8", "replace")
    remarks = tuple(said)
    verdict = judge(remarks, changed=False)
    return files, Taken("seed", node.table, node.path, f"seeds/{node.table}.csv", verdict, remarks)


def _types(node: Node) -> Mapping[str, Any]:
    found = node.config.get("column_types")
    return found if isinstance(found, Mapping) else {}


def source_file(group: str, sources: list[Source]) -> tuple[str, bytes, tuple[Taken, ...]]:
    """The file that declares the sources of a group, and what became of each."""
    path = f"sources/{re.sub(r'[^A-Za-z0-9_]', '_', group)}.toml"
    blocks, taken = [], []
    for each in sorted(sources, key=lambda one: one.name):
        limits, remarks = source_freshness(each)
        blocks.append(_source(each, limits))
        verdict = judge(remarks, changed=False)
        taken.append(Taken("source", each.table, each.path, path, verdict, remarks))
    return path, format_toml({"source": blocks}).encode("utf-8", "replace"), tuple(taken)


def _source(source: Source, freshness: Inline | None) -> Block:
    """A source without columns: dbt lists as many of them as somebody cared to describe."""
    meta = plain_meta(source.meta)
    columns = source.columns.items()
    said = {name: each.description.strip() for name, each in columns if each.description.strip()}
    if said:
        meta["columns"] = Inline(said)
    return Block(
        {
            "name": source.table,
            "format": "table",
            "table": source.relation if source.relation != source.table else None,
            "description": source.description.strip() or None,
            "tags": list(source.tags),
            "freshness": freshness,
            "meta": Inline(meta) if meta else None,
        }
    )


def settings_files(project: DbtProject) -> dict[str, bytes]:
    """`rocky.toml`, with the schema of dbt's target, and what git leaves alone."""
    name = re.sub(r"\W", "_", project.name) or "main"
    schema = re.sub(r"[^\w-]", "_", project.default_schema)
    text = _SETTINGS.format(name=name, schema=schema)
    return {"rocky.toml": text.encode("utf-8", "replace"), ".gitignore": _IGNORED}


def ordered(sidecar: Mapping[str, Any]) -> dict[str, Any]:
    """The keys of a sidecar as a person would write them."""
    first = ("description", "owner", "tags", "delimiter", "strategy")
    keys = [each for each in first if each in sidecar]
    return {key: sidecar[key] for key in (*keys, *(each for each in sidecar if each not in keys))}
