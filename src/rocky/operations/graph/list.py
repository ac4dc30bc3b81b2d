"""List: what the project has, what is said of it, and how it hangs together.

It compiles, because who reads whom is known only from the SQL; findings are only counted.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Literal

from rocky.analysis.compilation import Compilation, unpack_body
from rocky.compiler.fingerprints import fingerprints_of
from rocky.errors import InvalidRequest, LedgerUnreadable
from rocky.operations.findings import errors_in
from rocky.operations.graph.list_report import (
    FunctionsReport,
    Listed,
    ListedFunction,
    ListedMacro,
    ListedModel,
    ListedPipeline,
    ListedSeed,
    ListedSource,
    ListReport,
    MacrosReport,
    ModelsReport,
    PipelinesReport,
    SeedsReport,
    SourcesReport,
)
from rocky.operations.graph.neighbours import list_neighbours
from rocky.operations.graph.source_kinds import source_kind
from rocky.operations.pipelines.order import needs_of
from rocky.operations.workspace import Workspace, compile_workspace, state_path
from rocky.plan.arguments import Request
from rocky.plan.selectors import select_nodes
from rocky.plan.steps import plan_steps, step_id
from rocky.project import SourceTable
from rocky.project.configuration.labels import shown_meta, shown_tags, shown_text
from rocky.project.descriptions import Described, describe_declared, describe_model
from rocky.project.pipeline_tables import PipelineTable

Kind = Literal[
    "models", "sources", "seeds", "pipelines", "functions", "macros", "deps", "consumers"
]


@dataclass(frozen=True, slots=True)
class ListRequest(Request):
    """Everything, or one kind of it; with selectors, only what they choose.

    `deps` and `consumers` are those of the one model, source, seed or column that is named.
    """

    kind: Kind | None = None
    select: tuple[str, ...] = ()


def list_project(workspace: Workspace, request: ListRequest) -> Listed:
    """What the project has. Raises NothingSelected, InvalidRequest, and what loading raises."""
    compilation = compile_workspace(workspace, discovered=True)
    errors = len(errors_in(compilation.diagnostics))
    if request.kind == "deps" or request.kind == "consumers":
        return list_neighbours(workspace, request.kind, request.select, errors)
    if request.kind == "pipelines" or request.kind == "functions" or request.kind == "macros":
        if request.select:
            raise InvalidRequest(f"selectors choose models, sources and seeds, not {request.kind}")
        return _list_unselected(compilation, request.kind, errors)
    chosen = select_nodes(compilation, request.select)
    holds = _find_holds(workspace, compilation)
    match request.kind:
        case "models":
            return ModelsReport(errors=errors, models=_models(compilation, chosen, holds))
        case "sources":
            return SourcesReport(errors=errors, sources=_sources(compilation, chosen))
        case "seeds":
            return SeedsReport(errors=errors, seeds=_seeds(compilation, chosen, holds))
        case None:
            return ListReport(
                errors=errors,
                models=_models(compilation, chosen, holds),
                sources=_sources(compilation, chosen),
                seeds=_seeds(compilation, chosen, holds),
            )


def _list_unselected(
    compilation: Compilation, kind: Literal["pipelines", "functions", "macros"], errors: int
) -> Listed:
    """What selectors do not choose among."""
    match kind:
        case "pipelines":
            return PipelinesReport(errors=errors, pipelines=list_pipelines(compilation))
        case "functions":
            return FunctionsReport(errors=errors, functions=list_functions(compilation))
        case "macros":
            return MacrosReport(errors=errors, macros=list_macros(compilation))


def _find_holds(workspace: Workspace, compilation: Compilation) -> Mapping[str, str]:
    """Why tables are held, by the ids of their steps, as the state that is here says."""
    path = state_path(workspace)
    if not path.exists():
        return {}
    # Only a project that was run pays for what reads its state.
    from rocky.run.reuse.holds import find_holds, has_reverted  # noqa: PLC0415

    try:
        if not has_reverted(path):
            return {}
        keys = list(compilation.project.models)
        fingerprints = fingerprints_of(compilation, keys)
        return find_holds(plan_steps(compilation, keys), fingerprints, path)
    except LedgerUnreadable as failure:
        workspace.warn(f"whether tables are held is not known: {failure}")
        return {}


def _models(
    compilation: Compilation, chosen: Collection[str], holds: Mapping[str, str]
) -> tuple[ListedModel, ...]:
    project = compilation.project
    models = [project.models[name.lower()] for name in compilation.order if name.lower() in chosen]
    return tuple(
        ListedModel(
            model.name,
            *_neighbours(compilation, model.name),
            "model",
            model.path,
            model.target.full_name,
            model.strategy.type,
            compilation.models.record(model.key).columns if model.key in compilation.models else 0,
            shown_tags(model.tags),
            meta=shown_meta(model.settings.meta) or None,
            pipeline=model.pipeline,
            held=holds.get(step_id("build", model.key)),
            **_said(describe_model(model, project.contracts.get(model.key)), model.owner),
        )
        for model in models
    )


def _sources(compilation: Compilation, chosen: Collection[str]) -> tuple[ListedSource, ...]:
    return tuple(
        ListedSource(
            source.name,
            *_neighbours(compilation, source.name),
            source_kind(source),
            source.file,
            source.format,
            len(source.columns),
            tags=shown_tags(source.tags) or None,
            meta=shown_meta(source.meta) or None,
            pipeline=compilation.project.writers.get(key),
            columns_from=source.known_by if isinstance(source, PipelineTable) else None,
            as_of=_known_since(source),
            **_said(describe_declared(source), source.owner),
        )
        for key, source in compilation.project.sources.items()
        if key in chosen
    )


def _known_since(source: SourceTable) -> datetime | None:
    """When what is known of a pipeline's table was so."""
    if not isinstance(source, PipelineTable) or not source.at_ms:
        return None
    return datetime.fromtimestamp(source.at_ms / 1000, UTC)


def _seeds(
    compilation: Compilation, chosen: Collection[str], holds: Mapping[str, str]
) -> tuple[ListedSeed, ...]:
    return tuple(
        ListedSeed(
            seed.name,
            *_neighbours(compilation, seed.name),
            "seed",
            seed.path,
            len(seed.columns),
            tags=shown_tags(seed.tags) or None,
            meta=shown_meta(seed.meta) or None,
            held=holds.get(step_id("seed", key)),
            **_said(describe_declared(seed), seed.owner),
        )
        for key, seed in compilation.project.seeds.items()
        if key in chosen
    )


def list_pipelines(compilation: Compilation) -> tuple[ListedPipeline, ...]:
    """The pipelines of a project, in the order of its settings."""
    models = compilation.project.models.values()
    needs = needs_of(compilation)
    return tuple(
        ListedPipeline(
            name,
            "pipeline",
            pipeline.type,
            sum(model.pipeline == name for model in models),
            pipeline.depends_on,
            shown_text(pipeline.description),
            shown_text(pipeline.owner),
            shown_meta(pipeline.meta) or None,
            tuple(sorted(each for each in needs.get(name, ()) if each is not None)),
        )
        for name, pipeline in compilation.project.config.pipeline.items()
    )


def list_functions(compilation: Compilation) -> tuple[ListedFunction, ...]:
    """The declared functions of a project, by name."""
    callers: dict[str, list[str]] = {}
    declared = compilation.project.functions
    for name in compilation.order if declared else ():
        if name.lower() in compilation.models:
            for called, _ in unpack_body(compilation.models.record(name.lower())).functions:
                callers.setdefault(called, []).append(name)
    return tuple(
        ListedFunction(
            each.name,
            "function",
            each.signature.kind,
            each.signature.path,
            each.signature.text,
            each.signature.gives_rows,
            each.signature.aggregate,
            tuple(callers.get(key, ())),
            each.signature.deterministic,
            shown_text(each.description),
            shown_text(each.owner),
        )
        for key, each in sorted(declared.items())
    )


def list_macros(compilation: Compilation) -> tuple[ListedMacro, ...]:
    """The macros of a project, by name."""
    project = compilation.project
    callers: dict[str, list[str]] = {}
    for name in compilation.order if project.macros else ():
        model = project.models[name.lower()]
        expanded = filter(None, (model.expanded, *model.setting_expansions.values()))
        for path in sorted({path for each in expanded for path in each.macros}):
            callers.setdefault(path, []).append(name)
    return tuple(
        ListedMacro(
            macro.name,
            "macro",
            macro.path,
            macro.declaration.signature,
            tuple(callers.get(macro.path, ())),
            shown_text(macro.declaration.comment),
        )
        for _, macro in sorted(project.macros.items())
    )


def _said(described: Described, owner: str | None) -> dict[str, Any]:
    return {
        "description": described.table,
        "owner": shown_text(owner),
        "column_descriptions": described.columns or None,
    }


def _neighbours(compilation: Compilation, name: str) -> tuple[int, int]:
    return len(compilation.upstream.get(name, ())), len(compilation.downstream.get(name, ()))
