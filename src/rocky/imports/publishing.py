"""Publishing: a compiled project as the interface that other projects may build on.

What is promised is names, types and rules. No query, no path and nothing that came from a variable
is in it, and the same project gives the same bytes on every machine.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from rocky.datatypes.types import UNKNOWN, ArrayType, DataType, MapType, StructType
from rocky.errors import InterfaceRefused
from rocky.imports.columns import column_entry
from rocky.imports.meanings import Rebind
from rocky.imports.reads import published_reads
from rocky.ir.model import ModelIr
from rocky.project import ModelFile, Project
from rocky.project.interfaces import (
    INTERFACE_VERSION,
    InterfaceColumn,
    InterfaceContract,
    InterfaceTable,
    content_hash,
)
from rocky.project.variables import Substituted, written

_SHOWN: Final = 10


def project_name(project: Project) -> str:
    """What the project is called by others. Raises InterfaceRefused when nothing says it."""
    if project.config.publish.name:
        return project.config.publish.name
    named = [name for name in project.config.pipeline if name != "default"]
    if len(named) != 1:
        raise InterfaceRefused(
            "nothing says what this project is called by others: set `name` in `[publish]`"
        )
    return named[0]


def publish_interface(
    project: Project, models: Mapping[str, ModelIr], keys: Iterable[str], rebind: Rebind
) -> dict[str, Any]:
    """The interface of some models, as JSON values. The project must have compiled.

    Raises InterfaceRefused when a column or a type of one of them is not known, and when a name
    in it came from a variable.
    """
    chosen = sorted(keys)
    _refuse_variables(project, chosen)
    _refuse_unknown(project, models, chosen)
    content: dict[str, Any] = {
        "interface_version": INTERFACE_VERSION,
        "project": project_name(project),
        "tables": [_table(project, project.models[key], models[key]) for key in chosen],
        "reads": published_reads(project, models, rebind),
    }
    content["tables"].sort(key=lambda table: table["target"].lower())
    content["interface_hash"] = content_hash(content)
    return content


def _refuse_variables(project: Project, keys: Sequence[str]) -> None:
    """A name must be published as it is, and what a variable holds may be a secret."""
    found = []
    if isinstance(project.config.publish.name, Substituted):
        found.append(f"`name` in `[publish]` is `{written(project.config.publish.name)}`")
    for key in keys:
        model = project.models[key]
        if any(isinstance(part, Substituted) for part in (model.name, *model.target)):
            target = ".".join(map(written, model.target))
            found.append(f"the table of model `{written(model.name)}` is `{target}`")
    if found:
        more = f" and {len(found) - _SHOWN} more" if len(found) > _SHOWN else ""
        raise InterfaceRefused(
            f"what came from a variable is not published: {'; '.join(found[:_SHOWN])}{more};"
            " write it out, or select other models"
        )


def _refuse_unknown(project: Project, models: Mapping[str, ModelIr], keys: Sequence[str]) -> None:
    unknown: list[str] = []
    for key in keys:
        ir = models.get(key)
        if ir is None or not ir.known:
            unknown.append(f"`{project.models[key].name}` (not all of its columns)")
            continue
        unknown += [
            f"`{ir.name}.{column.name}`" for column in ir.columns if not _complete(column.type)
        ]
    if unknown:
        more = f" and {len(unknown) - _SHOWN} more" if len(unknown) > _SHOWN else ""
        raise InterfaceRefused(
            f"types that are not known cannot be published: {', '.join(unknown[:_SHOWN])}{more};"
            " give them a type with CAST, or select other models"
        )


def _complete(kind: DataType) -> bool:
    match kind:
        case ArrayType():
            return _complete(kind.element)
        case MapType():
            return _complete(kind.key) and _complete(kind.value)
        case StructType():
            return all(_complete(field.type) for field in kind.fields)
        case _:
            return kind is not UNKNOWN


def _table(project: Project, model: ModelFile, ir: ModelIr) -> dict[str, Any]:
    contract = project.contracts.get(model.key)
    described = dict(_descriptions(project, model))
    classified = {name.lower(): tag for name, tag in model.classification.items()}
    table: dict[str, Any] = {
        "name": model.name,
        "target": model.target.full_name,
        "strategy": model.strategy.type,
        "columns": [],
    }
    for column in ir.columns:
        name = column.name.lower()
        entry = column_entry(column.name, column.type, nullable=column.nullable)
        _add_text(entry, "description", described.get(name))
        _add_text(entry, "classification", classified.get(name))
        table["columns"].append(entry)
    _add_text(table, "description", model.intent)
    if model.tags:
        table["tags"] = {name: written(value) for name, value in model.tags.items()}
    if contract is not None:
        rules = {
            "required": sorted(rule.column for rule in contract.required),
            "protected": sorted(rule.column for rule in contract.protected),
            "strict": contract.strict,
        }
        table["contract"] = {key: value for key, value in rules.items() if value}
    return table


def table_of(project: Project, model: ModelFile, ir: ModelIr) -> InterfaceTable:
    """A model as readers of its interface would see it."""
    contract = project.contracts.get(model.key)
    classified = {name.lower(): str(written(tag)) for name, tag in model.classification.items()}
    promised = InterfaceContract()
    if contract is not None:
        promised = InterfaceContract(
            tuple(rule.column for rule in contract.required),
            tuple(rule.column for rule in contract.protected),
            contract.strict,
        )
    columns = []
    for each in ir.columns:
        mark = classified.get(each.name.lower())
        columns.append(InterfaceColumn(each.name, each.type, each.nullable, None, mark))
    return InterfaceTable(
        model.name, model.target.full_name, tuple(columns), model.strategy.type, promised
    )


def _descriptions(project: Project, model: ModelFile) -> Iterable[tuple[str, str | None]]:
    """By lower-case name; the model's own words win over those of its contract."""
    contract = project.contracts.get(model.key)
    for column in contract.columns if contract is not None else ():
        yield column.name.lower(), column.description
    for name, setting in model.settings.columns.items():
        if setting.description is not None:
            yield name.lower(), setting.description


def _add_text(entry: dict[str, Any], key: str, value: str | None) -> None:
    """What a variable holds may be a secret: such a text is published as it is written."""
    if value is not None:
        entry[key] = str(written(value))


def encode_interface(content: Mapping[str, Any]) -> str:
    """An interface as text: sorted, one column a line, so that a change is one line of a diff."""
    return _encode(content, 0) + "\n"


def _encode(value: Any, depth: int) -> str:
    pad, inner = "  " * depth, "  " * (depth + 1)
    if isinstance(value, Mapping) and value:
        lines = [
            f"{inner}{_line(key)}: {_encode(one, depth + 1)}" for key, one in sorted(value.items())
        ]
        return "{\n" + ",\n".join(lines) + f"\n{pad}}}"
    if isinstance(value, list) and any(isinstance(one, Mapping) for one in value):
        columns = all("nullable" in one for one in value)
        lines = [inner + (_line(one) if columns else _encode(one, depth + 1)) for one in value]
        return "[\n" + ",\n".join(lines) + f"\n{pad}]"
    return _line(value)


def _line(value: Any) -> str:
    return json.dumps(value, sort_keys=True, ensure_ascii=False)
