"""Snapshot pipelines: one table's rows followed through time.

What is read is a declared source of that name, else the table of the warehouse. The target is a
generated model with the `snapshot` strategy, so a source that has not changed needs no Spark.
"""

from dataclasses import replace
from typing import Final

from rocky.analysis.masks.copies import CopiedTables
from rocky.diagnostics import Severity
from rocky.errors import InputNotBuilt, RockyError, RunRefused, SourceUnreadable
from rocky.language.datatypes.types import StructField
from rocky.language.names import quote_name
from rocky.pipelines.checks.evaluation import checks_of_targets
from rocky.pipelines.generated_models import GeneratedModel, GeneratedSource, plan_generated
from rocky.pipelines.owners import load_owners
from rocky.pipelines.pattern_use import TableColumns, unused_patterns
from rocky.pipelines.report import PipelineResult
from rocky.plan.refusals import refuse_unsupported
from rocky.plan.request import RunRequest
from rocky.plan.steps import RunPlan
from rocky.project.configuration.pipelines import SnapshotPipeline, SnapshotTable
from rocky.project.configuration.strategies import FullRefresh, Snapshot
from rocky.project.models import Target
from rocky.project.pipeline_tables import PipelineTable
from rocky.run.execute.runner import run_plan
from rocky.run.outcomes import PipelineContribution, StepNotes
from rocky.run.prepare.mask_changes import is_masked_otherwise
from rocky.run.prepare.resources import RunParameters
from rocky.run.prepare.session import RunSession
from rocky.store.warehouse import Warehouse

_EMPTY_QUERY: Final = "SELECT CAST(NULL AS STRING) AS unknown"


def run_snapshot(
    opened: RunSession,
    known: CopiedTables,
    name: str,
    pipeline: SnapshotPipeline,
    request: RunRequest,
) -> PipelineResult:
    """Bring the history of a table up to date. Raises RunRefused, and as `run_plan`."""
    refuse_unsupported(name, pipeline, request)
    resources, project = opened.resources, opened.project
    target = target_of(pipeline.target)
    refuse_target(pipeline)
    with resources.ledger.lookups() as lookups:
        owner = load_owners(project, name, resources.warehouse, lookups, [target]).of(target)
    model, refusal = plan_model(known, resources.warehouse, pipeline)
    if owner is not None:
        refusal = f"`{target.full_name}` is written by {owner}; set another `target`"
    plan = plan_generated(known, name, [model])
    wrong = refusal or _compile_error(plan)
    if wrong is not None:
        plan = plan_generated(known, name, [_nameless(model)])
    checks = checks_of_targets(
        resources, pipeline.checks, {target.key: target}, "snapshot", pipeline.updated_at
    )
    notes = StepNotes(("snapshot", name, target.full_name), refusal=wrong)
    options = RunParameters(
        1,
        request.builds_whole,
        request.rebuild,
        request.reuse,
        notes=PipelineContribution(
            name,
            {target.key: notes},
            idempotency_key=request.idempotency_key,
            conclude=checks if pipeline.checks.enabled else None,
        ),
        start_anew=request.start_anew,
        force=request.force,
    )
    report = run_plan(plan, resources, options, listener=opened.caller.listener, stop=opened.stop)
    looked = [TableColumns(target, lambda: model.columns)] if wrong is None else []
    unused = unused_patterns(project, name, looked)
    report = replace(report, warnings=(*report.warnings, *unused))
    return PipelineResult(
        "snapshot", report, checks=checks.result if pipeline.checks.enabled else None
    )


def plan_model(
    known: CopiedTables, warehouse: Warehouse, pipeline: SnapshotPipeline
) -> tuple[GeneratedModel, str | None]:
    """The table as a generated model, and why it cannot be made, if so."""
    target = target_of(pipeline.target)
    try:
        source = find_source(known, warehouse, target_of(pipeline.source))
        strategy = Snapshot(
            tuple(_column(source, each, "unique_key") for each in pipeline.unique_key),
            _column(source, pipeline.updated_at, "updated_at"),
            pipeline.invalidate_hard_deletes,
            pipeline.null_updated_at,
        )
    except RockyError as error:
        return GeneratedModel(target, _EMPTY_QUERY, FullRefresh(), ()), str(error)
    names = ", ".join(quote_name(each.name) for each in source.columns)
    sql = f"SELECT {names} FROM {source.sql_name}"  # noqa: S608 - names are quoted
    columns = tuple(each.name for each in source.columns)
    base = target_of(pipeline.source)
    return GeneratedModel(target, sql, strategy, (source,), columns=columns, base=base), None


def find_source(known: CopiedTables, warehouse: Warehouse, source: Target) -> GeneratedSource:
    """What is read. Raises SourceUnreadable when there is no such table, StoreUnreadable.

    Raises InputNotBuilt for a table that was written with other masks than it has now.
    """
    declared = known.project.sources.get(source.key)
    if declared is not None and not isinstance(declared, PipelineTable):
        declared = declared.as_read()
        return GeneratedSource(
            declared.name, declared.columns, declared.format, declared.path, declared.options
        )
    table = warehouse.table(source)
    snapshot = table.snapshot()
    if snapshot is None:
        raise SourceUnreadable(
            f"there is no table `{source.full_name}` in the warehouse, and no source of that name"
            " is declared in `sources/`; build it first, or correct `source`"
        )
    if is_masked_otherwise(known, source, snapshot):
        raise InputNotBuilt(
            f"`{source.full_name}` was written with other masks than it has now, and its history"
            " would show that; build it first"
        )
    columns = tuple(StructField(each.name, each.type, each.nullable) for each in snapshot.schema)
    return GeneratedSource(source.full_name, columns, "delta", table.uri)


def target_of(table: SnapshotTable) -> Target:
    """A table of the settings as the name of one."""
    return Target(table.catalog, table.schema, table.table)


def refuse_target(pipeline: SnapshotPipeline) -> None:
    """Raises RunRefused when the history would overwrite its source."""
    target = target_of(pipeline.target)
    if target.key == target_of(pipeline.source).key:
        raise RunRefused(f"the history of `{target.full_name}` cannot be kept in itself")


def _column(source: GeneratedSource, name: str, setting: str) -> str:
    names = {each.name.lower(): each.name for each in source.columns}
    if name.lower() not in names:
        listed = ", ".join(f"`{each}`" for each in names.values())
        raise SourceUnreadable(
            f"`{source.name}` has no column `{name}`, which `{setting}` names; it has {listed}"
        )
    return names[name.lower()]


def _compile_error(plan: RunPlan) -> str | None:
    found = (each for each in plan.compilation.diagnostics if each.severity is Severity.ERROR)
    return next((each.message for each in found), None)


def _nameless(model: GeneratedModel) -> GeneratedModel:
    return replace(model, sql=_EMPTY_QUERY, strategy=FullRefresh(), sources=(), columns=())
