"""Quality pipelines: checks over tables that others make, and their bad rows put aside.

Tables are pinned when the pipeline is planned: what is checked and what is split is one version,
whatever is written meanwhile. Only quarantine writes, as generated models like any other.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path
from typing import Final

from rocky.analysis.compilation import Compilation
from rocky.analysis.masks.copies import CopiedTables
from rocky.errors import NothingSelected, RockyError, StoreUnreadable
from rocky.language.ir import is_deterministic
from rocky.ledger.pipeline_state import load_counts
from rocky.pipelines.checks.assertions import assertions_for
from rocky.pipelines.checks.evaluation import PipelineChecks
from rocky.pipelines.checks.quarantine import (
    QuarantineInput,
    QuarantineRefused,
    materialize_tagged,
    names_of_quarantine,
    plan_quarantine,
)
from rocky.pipelines.generated_models import GeneratedModel, GeneratedSource, plan_generated
from rocky.pipelines.owners import Owners, load_owners
from rocky.pipelines.report import CheckedTable, LiveTable, PipelineResult
from rocky.plan.refusals import refuse_unsupported, refusing_findings
from rocky.plan.request import PARALLEL, RunRequest
from rocky.project import Project
from rocky.project.collisions import declared_sources
from rocky.project.configuration.model import ABOUT_ROWS
from rocky.project.configuration.pipelines import QualityPipeline
from rocky.project.configuration.quality_tables import QualityTable
from rocky.project.configuration.strategies import FullRefresh
from rocky.project.models import Target
from rocky.project.sources import undeclared_source
from rocky.run.execute.runner import run_plan
from rocky.run.materialize.build import Materialize
from rocky.run.outcomes import PipelineContribution
from rocky.run.prepare.mask_changes import is_masked_otherwise
from rocky.run.prepare.resources import RunParameters
from rocky.run.prepare.session import RunSession
from rocky.store.delta.snapshot import WATERMARK
from rocky.store.warehouse import Warehouse

_VERSION: Final = "versionAsOf"
_FULL_NAME_PARTS: Final = 3


@dataclass(frozen=True, slots=True)
class QualityPlan:
    """What a quality pipeline will do: `models` are the tables of quarantine, often none.

    `build_table` is how they must be built where that is not as usual.
    """

    tables: tuple[CheckedTable, ...]
    models: tuple[GeneratedModel, ...]
    notes: PipelineContribution
    checks: PipelineChecks
    build_table: Materialize | None = None


@dataclass(frozen=True, slots=True)
class QualityContext:
    """What a quality pipeline stands on."""

    known: CopiedTables
    warehouse: Warehouse
    state_path: Path
    now: datetime

    @property
    def project(self) -> Project:
        return self.known.project


@dataclass(frozen=True, slots=True)
class _FoundTables:
    """The tables there are, and why others could not be looked at."""

    tables: dict[str, CheckedTable] = field(default_factory=dict)
    failed: dict[str, str] = field(default_factory=dict)


def plan_quality(name: str, pipeline: QualityPipeline, ground: QualityContext) -> QualityPlan:
    """What is checked and what is written. One table's trouble is in `notes.failed`, for it alone.

    Raises NothingSelected when there is no table at all, and LedgerUnreadable.
    """
    found = _find_tables(pipeline, ground)
    if not found.tables:
        why = next(iter(found.failed.values()), "set `tables`")
        raise NothingSelected(f"pipeline `{name}` has no table to check: {why}")
    counts = load_counts(ground.state_path, found.tables)
    fresh = {each.target.key: each.settings.freshness for each in ground.project.models.values()}
    tables = tuple(
        replace(each, history=counts[key], freshness=each.freshness or fresh.get(key))
        for key, each in found.tables.items()
    )
    models = tuple(_quarantine(name, pipeline, tables, ground, found.failed))
    checks = PipelineChecks(
        pipeline.checks,
        lambda _: tables,
        ground.warehouse,
        # What could not be looked at is still a table of the pipeline.
        (*(each.name for each in tables), *found.failed),
        sources=declared_sources(ground.project.sources),
    )
    notes = PipelineContribution(name, failed=found.failed, conclude=checks, checks_decide=True)
    stored = {each.name: each.snapshot for each in tables if each.snapshot is not None}
    tagged = stored if _tags(pipeline) else {}
    build_table = materialize_tagged(tagged) if tagged else None
    return QualityPlan(tables, models, notes, checks, build_table)


def _tags(pipeline: QualityPipeline) -> bool:
    return pipeline.checks.quarantine.enabled and pipeline.checks.quarantine.mode == "tag"


def _find_tables(pipeline: QualityPipeline, ground: QualityContext) -> _FoundTables:
    found, warehouse = _FoundTables(), ground.warehouse
    for wanted in pipeline.tables:
        label = wanted.label
        if wanted.place is None:
            _find_elsewhere(wanted, ground.project, found)
            continue
        try:
            targets = _targets(wanted.place, pipeline, warehouse)
        except StoreUnreadable as error:
            found.failed[label] = str(error)
            continue
        if not [each for each in targets if _is_pinned(each, warehouse, found)]:
            kind = "table in schema" if wanted.table is None else "table"
            found.failed.setdefault(label, f"there is no {kind} `{label}`")
    return found


def _find_elsewhere(wanted: QualityTable, project: Project, found: _FoundTables) -> None:
    """A declared source, or a table that Spark alone knows: whether it is there, Spark is asked."""
    source = declared_sources(project.sources).get((wanted.source or "").lower())
    if wanted.spark_table is not None:
        source = undeclared_source(wanted.spark_table, project.config_path)
    if source is None:
        found.failed[wanted.label] = f"no source `{wanted.label}` is declared"
        return
    parts = source.name.split(".")
    target = Target(*("", "", *parts)[-_FULL_NAME_PARTS:])
    table = CheckedTable(target, None, None, live=LiveTable(source), freshness=source.freshness)
    found.tables.setdefault(table.key, table)


def _targets(
    place: tuple[str, str, str | None], pipeline: QualityPipeline, warehouse: Warehouse
) -> list[Target]:
    """The tables that an entry names, as they are written in the warehouse."""
    catalog_name, schema_name, table_name = place
    folders = [
        folder
        for catalog in _named(warehouse, "", catalog_name)
        for schema in _named(warehouse, catalog, schema_name)
        for folder in _named(warehouse, schema, table_name)
    ]
    targets = [Target(*folder.split("/")) for folder in folders]
    if table_name is not None:
        return targets
    made = names_of_quarantine((each.table for each in targets), pipeline.checks.quarantine)
    return [each for each in targets if each.table.lower() not in made]


def _named(warehouse: Warehouse, folder: str, name: str | None) -> list[str]:
    """The folders in a folder, all or those of a name as Spark compares names."""
    return [
        each
        for each in warehouse.objects.folders(folder)
        if name is None or each.rpartition("/")[2].lower() == name.lower()
    ]


def _is_pinned(target: Target, warehouse: Warehouse, found: _FoundTables) -> bool:
    """Whether there is such a table; it is among those found then, or among the failed."""
    if target.key in found.tables:
        return True
    table = warehouse.table(target)
    try:
        snapshot = table.snapshot()
    except StoreUnreadable as error:
        found.failed[target.full_name] = str(error)
        return True
    if snapshot is not None:
        found.tables[target.key] = CheckedTable(target, table, snapshot)
    return snapshot is not None


def _quarantine(
    name: str,
    pipeline: QualityPipeline,
    tables: Sequence[CheckedTable],
    ground: QualityContext,
    failed: dict[str, str],
) -> Iterator[GeneratedModel]:
    """The models that put rows aside. A table that refuses fails, and is checked all the same."""
    settings = pipeline.checks.quarantine
    if not (pipeline.checks.enabled and settings.enabled):
        return
    stored = [each for each in tables if each.live is None]
    owners = _owners(name, pipeline, stored, ground)
    checked = {each.key: each.name for each in tables}
    for table in tables:
        try:
            if table.live is not None:
                _refuse_elsewhere(table, pipeline)
                continue
            models = _models(pipeline, table, ground.now)
            if _tags(pipeline):
                _refuse_to_tag(table, owners)
            else:
                _refuse_taken(models, checked, owners)
                _refuse_otherwise_masked(models, table, ground.known)
            _refuse_wrong(ground.known, name, models)
        except RockyError as refused:
            failed[table.name] = f"its rows cannot be put into quarantine: {refused}"
            continue
        yield from models


def _owners(
    name: str, pipeline: QualityPipeline, tables: Sequence[CheckedTable], ground: QualityContext
) -> Owners:
    """Who else writes the tables, and those that quarantine would write beside them."""
    settings = pipeline.checks.quarantine
    beside = (
        each.target._replace(table=f"{each.target.table}{suffix}")
        for each in tables
        for suffix in (settings.suffix_valid, settings.suffix_quarantine)
    )
    targets = [*(each.target for each in tables), *beside]
    return load_owners(ground.project, name, ground.warehouse, ground.state_path, targets)


def _models(
    pipeline: QualityPipeline, table: CheckedTable, now: datetime
) -> tuple[GeneratedModel, ...]:
    stored = table.stored
    source = GeneratedSource(
        table.name,
        table.columns,
        "delta",
        stored.table.uri,
        {_VERSION: str(stored.snapshot.version)},
    )
    given = QuarantineInput(table.target, table.columns, source.sql_name)
    assertions = assertions_for(table.name, pipeline.checks.assertions)
    planned = plan_quarantine(given, assertions, pipeline.checks.quarantine, now)
    names = tuple(each.name for each in table.columns)
    # Bad rows are kept before the valid ones are told apart from them.
    return tuple(
        GeneratedModel(
            each.target,
            each.sql,
            FullRefresh(),
            (source,),
            depends_on=tuple(before.target.full_name for before in planned[:index]),
            # A table that is tagged stays what it is: its rows are nobody's copy.
            columns=() if _tags(pipeline) else names,
            base=table.target,
        )
        for index, each in enumerate(planned)
    )


def _refuse_taken(
    models: Sequence[GeneratedModel], checked: Mapping[str, str], owners: Owners
) -> None:
    for model in models:
        owner = owners.of(model.target)
        if owner is not None:
            raise QuarantineRefused(
                f"`{model.target.full_name}` is a table of {owner}; set other suffixes"
            )
        if model.key in checked:
            raise QuarantineRefused(
                f"`{model.target.full_name}` is itself a table that is checked; set other suffixes"
            )


def _refuse_otherwise_masked(
    models: Sequence[GeneratedModel], table: CheckedTable, known: CopiedTables
) -> None:
    """Raises QuarantineRefused for a table whose rows are not masked as they are to be."""
    if models and is_masked_otherwise(known, table.target, table.stored.snapshot):
        raise QuarantineRefused(
            "it was written with other masks than it has now, and copies of its rows would show"
            " that; build it first"
        )


def _refuse_elsewhere(table: CheckedTable, pipeline: QualityPipeline) -> None:
    """Raises QuarantineRefused for a table whose rows should be put aside and nobody pins."""
    about = assertions_for(table.name, pipeline.checks.assertions)
    if any(each.type in ABOUT_ROWS and each.severity == "error" for each in about):
        raise QuarantineRefused(
            "it is not a table of the warehouse; check it in a pipeline without quarantine, or"
            " copy it first"
        )


def _refuse_to_tag(table: CheckedTable, owners: Owners) -> None:
    """Raises QuarantineRefused for a table that its own writer could not continue."""
    owner, why, snapshot = owners.of(table.target), None, table.stored.snapshot
    if owner is not None:
        why = f"{owner} writes it, and would write it without tags"
    elif snapshot.configuration.get(WATERMARK):
        why = "it is loaded incrementally, and new rows would have no tags"
    elif snapshot.partition_columns:
        why = "it is partitioned"
    if why is not None:
        raise QuarantineRefused(f'a table cannot be tagged when {why}; use `mode = "split"`')


def _refuse_wrong(known: CopiedTables, name: str, models: Sequence[GeneratedModel]) -> None:
    """Raises QuarantineRefused when a condition does not compile, or is another each time."""
    if not models:
        return
    plan = plan_generated(known, name, models)
    wrong = next(iter(refusing_findings(plan)), None)
    if wrong is not None:
        raise QuarantineRefused(wrong.message)
    if len(models) > 1:
        _refuse_volatile(plan.compilation)


def _refuse_volatile(compilation: Compilation) -> None:
    for model in compilation.models.values():
        if not is_deterministic(model.determinism):
            raise QuarantineRefused(
                f"an assertion is not deterministic ({model.determinism[0]}), so a row could"
                f" end up in both tables or in none"
            )


def run_quality(
    opened: RunSession,
    known: CopiedTables,
    name: str,
    pipeline: QualityPipeline,
    request: RunRequest,
) -> PipelineResult:
    """Check the tables of a pipeline. Raises NothingSelected, RunRefused, and as `run_plan`."""
    refuse_unsupported(name, pipeline, request)
    resources = opened.resources
    ground = QualityContext(known, resources.warehouse, resources.ledger.path, resources.clock())
    plan = plan_quality(name, pipeline, ground)
    report = run_plan(
        plan_generated(known, name, plan.models),
        replace(resources, build_table=plan.build_table or resources.build_table),
        RunParameters(
            parallel=request.parallel or PARALLEL,
            rebuild=request.rebuild,
            reuse=request.reuse,
            notes=replace(plan.notes, idempotency_key=request.idempotency_key),
            start_anew=request.start_anew,
            force=request.force,
        ),
        listener=opened.caller.listener,
        stop=opened.stop,
    )
    return PipelineResult("quality", report, checks=plan.checks.result)
