"""Carriers: the tables in which a key column stands unchanged, found along lineage.

A table that carries the key can be asked whose rows it holds. One that was only made from such rows
cannot: an aggregate, or a table that has dropped the key. Those are told apart and named. Only
direct edges carry a key: a cast may have another meaning, an expression has another value. Pure.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from rocky.analysis.compilation import Compilation
from rocky.analysis.lineage import ColumnRef, Lineage, reach_models
from rocky.diagnostics.suggestion import suggestion
from rocky.errors import InvalidRequest, NothingSelected
from rocky.project.pipeline_tables import PipelineTable, copies_of
from rocky.run.materialize.seeds import seed_target

DIRECT: Final = "direct"


@dataclass(frozen=True, slots=True)
class Carriers:
    """Where a key goes, by names of the project.

    `columns` are those that carry it, by table; `mixed` are tables of them whose column has values
    of other columns too, which are named: nobody said that those are the same key. `masked` are
    those that hold something else in the place of the value, with what masks it. `derived` are
    models that are made from such tables and do not carry it; `sources` are carriers that no run
    writes.
    """

    columns: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    mixed: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    masked: Mapping[str, str] = field(default_factory=dict)
    derived: tuple[str, ...] = ()
    sources: tuple[str, ...] = ()


def find_carriers(compilation: Compilation, column: str, wanted: Sequence[str]) -> Carriers:
    """The tables that carry a column of the tables `wanted`; without any, of the one that has it.

    Raises InvalidRequest where several sources or seeds have a column of that name, and
    NothingSelected where none has, or a table that is named does not.
    """
    tables = _columns_of(compilation)
    starts = _starts(compilation, tables, column, wanted)
    graph = Lineage(
        compilation.models, _declared(compilation), copies_of(compilation.project.sources)
    )
    reached = dict.fromkeys(starts)
    waiting = list(starts)
    for each in waiting:
        for hop in graph.hops_from(each):
            if hop.kind == DIRECT and hop.target not in reached:
                reached[hop.target] = None
                waiting.append(hop.target)
    found: dict[str, tuple[str, ...]] = {}
    mixed: dict[str, tuple[str, ...]] = {}
    for each in reached:
        found[each.table] = (*found.get(each.table, ()), each.column)
        others = [
            f"{hop.source.table}.{hop.source.column}"
            for hop in graph.hops_into(each)
            if each not in starts and hop.kind == DIRECT and hop.source not in reached
        ]
        if others:
            mixed[each.table] = (*mixed.get(each.table, ()), *others)
    masked = _find_masked(compilation, graph, reached, starts if wanted else ())
    for name in [each for each in masked if each.lower() in compilation.project.twins]:
        # It is made whole of a table that can be asked, so it goes as what is derived does.
        del masked[name], found[name]
        mixed.pop(name, None)
    below = reach_models(compilation.downstream, found)
    derived = sorted(each for each in below if each not in found and each.lower() in tables)
    sources = [each for each in found if _is_foreign(compilation, each)]
    return Carriers(found, mixed, masked, tuple(derived), tuple(sources))


def _find_masked(
    compilation: Compilation,
    graph: Lineage,
    reached: Iterable[ColumnRef],
    meant: Collection[ColumnRef],
) -> dict[str, str]:
    """The tables whose key column is masked, there or on the way to it, with by what.

    Columns that are `meant` themselves have the value as it was said, masked or not.
    """
    masks: dict[ColumnRef, str] = {}
    for each in reached:
        mask = compilation.masks.of(each.table.lower()).get(each.column.lower())
        if mask is not None and each not in meant:
            masks[each] = mask.strategy
    waiting = list(masks)
    for each in waiting:
        for hop in graph.hops_from(each):
            if hop.kind == DIRECT and hop.target not in masks and hop.target not in meant:
                masks[hop.target] = masks[each]
                waiting.append(hop.target)
    found: dict[str, dict[str, None]] = {}
    for each, strategy in masks.items():
        found.setdefault(each.table, {})[strategy] = None
    return {table: ", ".join(strategies) for table, strategies in found.items()}


def _starts(
    compilation: Compilation,
    tables: Mapping[str, tuple[str, tuple[str, ...]]],
    column: str,
    wanted: Sequence[str],
) -> list[ColumnRef]:
    if wanted:
        return [_named(compilation, tables, each, column) for each in wanted]
    roots = [
        ColumnRef(name, one)
        for key, (name, columns) in sorted(tables.items())
        if key not in compilation.models and not _is_copy(compilation, key)
        for one in columns
        if one.lower() == column.lower()
    ]
    if len(roots) == 1:
        return roots
    if roots:
        listed = ", ".join(f"`--from {each.table}`" for each in roots)
        raise InvalidRequest(
            f"{len(roots)} tables have a column `{column}`, and it need not be the same key in"
            f" each; say whose is meant, with one or several of {listed}"
        )
    known = [one for _, columns in tables.values() for one in columns]
    hint = suggestion(column, known) or (
        "where a model makes it, name the model with `--from`: `rocky lineage` shows columns"
    )
    raise NothingSelected(f"no source and no seed has a column `{column}`; {hint}")


def _named(
    compilation: Compilation,
    tables: Mapping[str, tuple[str, tuple[str, ...]]],
    name: str,
    column: str,
) -> ColumnRef:
    key, models = name.replace("`", "").lower(), compilation.project.models.values()
    targets = {each.target.full_name.lower(): each.name for each in models}
    # SQL reads the copies of pipelines without their catalog, and so may be said here.
    ends = [each for each in (*tables, *targets) if each.endswith(f".{key}")]
    key = ends[0] if key not in tables and len(ends) == 1 else key
    found = tables.get(key) or tables.get(targets.get(key, "").lower())
    if found is None:
        hint = suggestion(name, [each for each, _ in tables.values()]) or "`rocky list` shows all"
        raise NothingSelected(f"no source, seed or model `{name}`; {hint}")
    for one in found[1]:
        if one.lower() == column.lower():
            return ColumnRef(found[0], one)
    hint = suggestion(column, found[1]) or f"it has {', '.join(f'`{each}`' for each in found[1])}"
    raise NothingSelected(f"`{found[0]}` has no column `{column}`; {hint}")


def _columns_of(compilation: Compilation) -> dict[str, tuple[str, tuple[str, ...]]]:
    """The name and columns of every table, by lower-case name; a model hides a source."""
    found = {
        name.lower(): (name, tuple(columns)) for name, columns in _declared(compilation).items()
    }
    return found | {
        key: (model.name, tuple(each.name for each in model.columns))
        for key, model in compilation.models.items()
    }


def _declared(compilation: Compilation) -> dict[str, list[str]]:
    project = compilation.project
    groups = (project.sources, project.seeds)
    return {
        each.name: [one.name for one in each.columns] for group in groups for each in group.values()
    }


def _is_copy(compilation: Compilation, key: str) -> bool:
    found = compilation.project.sources.get(key)
    return isinstance(found, PipelineTable) and bool(found.reads)


def _is_foreign(compilation: Compilation, name: str) -> bool:
    """Whether a table is a source that no run and no pipeline of the project writes."""
    key, project = name.lower(), compilation.project
    found = project.sources.get(key)
    hidden = key in project.models or key in project.seeds
    return found is not None and not hidden and not isinstance(found, PipelineTable)


def target_of(compilation: Compilation, name: str) -> str | None:
    """The full name of the table that a run or a pipeline writes; None of a source."""
    key, project = name.lower(), compilation.project
    if key in project.models:
        return project.models[key].target.full_name
    if key in project.seeds:
        return seed_target(project.seeds[key], project.config).full_name
    found = project.sources.get(key)
    return found.name if isinstance(found, PipelineTable) else None


def find_abandoned(
    compilation: Compilation, carriers: Carriers, inputs: Mapping[str, Collection[str]]
) -> tuple[str, ...]:
    """The tables that nothing in the project writes any more and that may hold such rows.

    `inputs` are the names of what each recorded table was made from, by its full name in lower
    case. One that was made from nothing that is recorded, or from what the project does not know,
    may hold anything.
    """
    project = compilation.project
    names = {*project.models, *project.seeds, *project.sources}
    own = {key: (target_of(compilation, key) or "").lower() for key in names}
    written = set(own.values())
    reached = {each.lower() for each in (*carriers.columns, *carriers.derived)}
    harmless = {each for key, target in own.items() if key not in reached for each in (key, target)}
    return tuple(
        target
        for target, made_from in sorted(inputs.items())
        if target not in written
        and not (made_from and {each.lower() for each in made_from} <= harmless)
    )
