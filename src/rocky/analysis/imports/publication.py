"""Publication: a compiled project as the interface that other projects may build on.

What is promised is names, types and rules, and what the project reads of its own imports, so that
their owners know. No query, no path and nothing that came from a variable is in it, and the same
project gives the same bytes on every machine. Types of what is read are those that were accepted,
not those of now: between the two lies the change that the reader has not agreed to.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

from rocky.analysis.classification import Classifications
from rocky.analysis.imports.findings import find_readers
from rocky.analysis.imports.usage import ImportReader, Rebind
from rocky.canonical import line_json
from rocky.errors import InterfaceRefused
from rocky.language.datatypes.parts import is_complete
from rocky.language.datatypes.text import TypeSyntaxError, parse_type, type_to_json
from rocky.language.datatypes.types import DataType
from rocky.language.ir import ModelIr
from rocky.project import ModelFile, Project
from rocky.project.configuration.classifications import join_tags
from rocky.project.configuration.labels import shown_tags
from rocky.project.descriptions import describe_model
from rocky.project.imports import ImportedTable
from rocky.project.interfaces import (
    INTERFACE_VERSION,
    InterfaceColumn,
    InterfaceContract,
    InterfaceTable,
    content_hash,
)
from rocky.project.project import shown_target
from rocky.project.toml.variables import Substituted, written


def column_entry(name: str, kind: DataType, *, nullable: bool) -> dict[str, Any]:
    """A column as an interface has it."""
    return {"name": name, "type": _type_entry(kind), "nullable": nullable}


def _type_entry(kind: DataType) -> Any:
    """The text of a type, or its JSON where the text does not tell that parts are never null."""
    try:
        if parse_type(kind.text) is kind:
            return kind.text
    except TypeSyntaxError:
        # A field's name that the text does not quote.
        pass
    return type_to_json(kind)


def published_reads(
    project: Project, models: Mapping[str, ModelIr], rebind: Rebind
) -> list[dict[str, Any]]:
    """The imported tables that models read, as JSON values, sorted by import and table."""
    found = []
    for table in project.sources.values():
        if not isinstance(table, ImportedTable):
            continue
        readers = [
            ImportReader(model, ir, table.name, table.columns, rebind)
            for model, ir in find_readers(project, models, table.name)
        ]
        if readers:
            found.append(_read(project, table, readers))
    return sorted(found, key=lambda each: (each["import"], each["table"].lower()))


def _read(project: Project, table: ImportedTable, readers: list[ImportReader]) -> dict[str, Any]:
    by: dict[str, set[str]] = {}
    for reader in readers:
        for name in reader.find_names([column.name for column in table.columns]):
            into = set(_values(reader.ir, table, name.lower())) or {reader.ir.name}
            by.setdefault(name.lower(), set()).update(into)
    accepted = _accepted(project, table)
    columns = []
    for column in _columns(table, accepted):
        if column.name.lower() in by:
            entry = column_entry(column.name, column.type, nullable=column.nullable)
            if column.classification is not None:
                entry["classification"] = column.classification
            columns.append({**entry, "by": sorted(by[column.name.lower()])})
    imported = project.imports[table.imported]
    interface = imported.snapshot or imported.baseline
    return {
        "import": table.imported,
        "project": interface.project if interface is not None else table.imported,
        "table": table.name,
        "columns": columns,
        "by": sorted(reader.ir.name for reader in readers),
        **_promised(accepted, by),
        "whole": _those(readers, ImportReader.takes_all),
        "ordered": _those(readers, ImportReader.needs_order),
        "exact": _those(readers, ImportReader.needs_exactly),
    }


def _those(readers: list[ImportReader], do: Callable[[ImportReader], bool]) -> list[str]:
    return sorted(reader.ir.name for reader in readers if do(reader))


def _values(ir: ModelIr, table: ImportedTable, name: str) -> Iterator[str]:
    """What of a model a column of the table (its lower-case name) goes into, or decides about."""
    for column in ir.columns:
        for edge in column.edges:
            if edge.table.lower() == table.key and edge.column.lower() == name:
                # Through code that nobody reads, any column may be in any other.
                yield ir.name if edge.kind == "opaque" else f"{ir.name}.{column.name}"
    for each in ir.influences:
        if each.table.lower() == table.key and each.column.lower() == name:
            yield ir.name


def _promised(accepted: InterfaceTable | None, read: Mapping[str, object]) -> dict[str, Any]:
    """What was promised of the table beside types, as far as it is about columns that are read."""
    if accepted is None:
        return {}
    rules = {
        key: [name for name in getattr(accepted.contract, key) if name.lower() in read]
        for key in ("required", "protected")
    }
    kept: dict[str, Any] = {key: names for key, names in rules.items() if names}
    if accepted.contract.strict:
        kept["strict"] = True
    return {"strategy": accepted.strategy, **({"contract": kept} if kept else {})}


def _accepted(project: Project, table: ImportedTable) -> InterfaceTable | None:
    """The table as it was accepted; as it is now where nothing was."""
    imported = project.imports[table.imported]
    for interface in (imported.baseline, imported.snapshot):
        found = interface.table(table.name) if interface is not None else None
        if found is not None:
            return found
    return None


def _columns(table: ImportedTable, accepted: InterfaceTable | None) -> Iterator[InterfaceColumn]:
    """The columns of now, as they were accepted; those that are newer as they are."""
    for field in table.columns:
        was = accepted.column(field.name) if accepted is not None else None
        yield was or InterfaceColumn(field.name, field.type, field.nullable)


_SHOWN: Final = 10


def project_name(project: Project) -> str:
    """What the project is called by others. Raises InterfaceRefused when nothing says it."""
    if project.config.publish.name:
        return project.config.publish.name
    named = [name for name in project.config.pipeline if name != "default"]
    if len(named) != 1:
        raise InterfaceRefused(
            "the project has no name to publish under: set `name` in `[publish]`"
        )
    return named[0]


def publish_interface(
    project: Project,
    models: Mapping[str, ModelIr],
    keys: Iterable[str],
    rebind: Rebind,
    facts: Classifications,
) -> dict[str, Any]:
    """The interface of some models, as JSON values. The project must have compiled.

    A column has there all the tags that `facts` know of it: they go on in projects that read it.

    Raises InterfaceRefused when a column or a type of one of them is not known, and when a name
    in it came from a variable.
    """
    chosen = sorted(set(keys) - project.twins.keys())
    _refuse_variables(project, chosen)
    _refuse_unknown(project, models, chosen)
    content: dict[str, Any] = {
        "interface_version": INTERFACE_VERSION,
        "project": project_name(project),
        "tables": [_table(project, project.models[key], models[key], facts) for key in chosen],
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
            f"values that come from a variable cannot be published:"
            f" {'; '.join(found[:_SHOWN])}{more};"
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
            f"`{ir.name}.{column.name}`" for column in ir.columns if not is_complete(column.type)
        ]
    if unknown:
        more = f" and {len(unknown) - _SHOWN} more" if len(unknown) > _SHOWN else ""
        raise InterfaceRefused(
            f"columns of unknown type cannot be published: {', '.join(unknown[:_SHOWN])}{more};"
            " give them a type with CAST, or select other models"
        )


def _table(
    project: Project, model: ModelFile, ir: ModelIr, facts: Classifications
) -> dict[str, Any]:
    contract = project.contracts.get(model.key)
    described = describe_model(model, contract)
    table: dict[str, Any] = {
        "name": model.name,
        "target": shown_target(project, model).full_name,
        "strategy": model.strategy.type,
        "columns": [],
    }
    for column in ir.columns:
        name = column.name.lower()
        entry = column_entry(column.name, column.type, nullable=column.nullable)
        _add_text(entry, "description", described.columns.get(name))
        _add_text(entry, "classification", _tags(facts, model, name))
        table["columns"].append(entry)
    _add_text(table, "description", described.table)
    if model.tags:
        table["tags"] = shown_tags(model.tags)
    if contract is not None:
        rules = {
            "required": sorted(rule.column for rule in contract.required),
            "protected": sorted(rule.column for rule in contract.protected),
            "strict": contract.strict,
        }
        table["contract"] = {key: value for key, value in rules.items() if value}
    return table


def _tags(facts: Classifications, model: ModelFile, column: str) -> str | None:
    """The tags of a column as one text; None for none."""
    found = dict.fromkeys(each.tag for each in facts.of(model.key, column))
    return join_tags(tuple(found)) or None


def table_of(
    project: Project, model: ModelFile, ir: ModelIr, facts: Classifications
) -> InterfaceTable:
    """A model as readers of its interface would see it."""
    contract = project.contracts.get(model.key)
    promised = InterfaceContract()
    if contract is not None:
        promised = InterfaceContract(
            tuple(rule.column for rule in contract.required),
            tuple(rule.column for rule in contract.protected),
            contract.strict,
        )
    columns = []
    for each in ir.columns:
        mark = _tags(facts, model, each.name)
        columns.append(InterfaceColumn(each.name, each.type, each.nullable, None, mark))
    return InterfaceTable(
        model.name, model.target.full_name, tuple(columns), model.strategy.type, promised
    )


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
    return line_json(value)
