"""Drafts of pipelines that are no sets of models: one function a type.

A replication and a snapshot are generated models, so what they rely on is known as for any model.
Of a load it is the files and the tables they are for, of checks the tables that are checked.
"""

from collections.abc import Callable, Iterable
from contextlib import ExitStack
from datetime import UTC, datetime
from typing import Any

from rocky.analysis.compilation import Compilation
from rocky.analysis.masks.copies import CopiedTables
from rocky.compiler.fingerprints import fingerprints_of
from rocky.errors import InternalError, NothingSelected, RockyError
from rocky.ledger.readers.commits import open_lookup_reader
from rocky.ledger.readers.lookup import LookupReader
from rocky.operations.plan.draft import (
    DraftRun,
    change_documents,
    place_document,
    present,
    schema_changes,
    step_facts,
)
from rocky.operations.plan.report import (
    CopiesOutlook,
    LoadOutlook,
    Outlook,
    Statement,
    TableOutlook,
    TablesOutlook,
)
from rocky.operations.report import encode_report
from rocky.pipelines.generated_models import plan_generated
from rocky.pipelines.loads.contract import load_contract
from rocky.pipelines.loads.files import FolderListing, TableFiles, find_files
from rocky.pipelines.loads.selection import (
    FileSelector,
    LoadContext,
    LoadHistory,
    load_file_history,
)
from rocky.pipelines.owners import load_owners
from rocky.pipelines.quality import QualityContext, plan_quality
from rocky.pipelines.replication.replication_run import find_resumed_tables, preview_replication
from rocky.pipelines.report import CheckedTable
from rocky.pipelines.snapshot import plan_model
from rocky.plan.adapters import pipeline_adapter
from rocky.plan.estimates import Unit
from rocky.plan.request import RunRequest
from rocky.plan.steps import RunPlan, Step
from rocky.project import Project
from rocky.project.configuration.pipelines import (
    LoadPipeline,
    QualityPipeline,
    ReplicationPipeline,
    SnapshotPipeline,
)
from rocky.project.contracts import Contract
from rocky.project.sources import SourceTable
from rocky.run.checksums import checksums_of
from rocky.run.engine.protocol import Engine
from rocky.run.engine.sources import Sources
from rocky.run.prepare.caller import Caller
from rocky.run.prepare.environment import predict_environment
from rocky.run.prepare.lost_state import refuse_begun_preview, tables_of_pipeline
from rocky.run.prepare.pins import Pins, open_project_warehouse
from rocky.run.prepare.preconditions import (
    PlanScope,
    observe_preconditions,
    observe_table,
    sources_of,
)


class PipelineDrafts:
    """Drafts the run of one pipeline of a compiled project."""

    def __init__(
        self, compilation: Compilation, name: str, request: RunRequest, caller: Caller
    ) -> None:
        self._compilation = compilation
        self._project: Project = compilation.project
        self._name = name
        self._request = request
        self._caller = caller
        self._last_run: str | None = None
        pipeline = self._project.config.pipeline[name]
        self._adapter = pipeline_adapter(self._project, pipeline, request.adapter)
        self._warehouse = open_project_warehouse(
            self._adapter, self._project.root, caller.environment
        )
        self._sources = Sources(self._project.root, self._adapter.conf, checksums_of(self._project))

    def draft(self) -> DraftRun:
        """What a run of the pipeline would do. Raises what looking at its sources raises."""
        pipeline = self._project.config.pipeline[self._name]
        with ExitStack() as opened:
            lookups = open_lookup_reader(self._caller.state)
            if lookups is not None:
                opened.enter_context(lookups)
                self._last_run = lookups.last_run_of(self._name)
            match pipeline:
                case ReplicationPipeline():
                    return self._replication(pipeline, lookups)
                case SnapshotPipeline():
                    return self._snapshot(pipeline, lookups)
                case LoadPipeline():
                    return self._load(pipeline, lookups)
                case QualityPipeline():
                    return self._quality(pipeline)
                case _:
                    raise InternalError(f"pipeline `{self._name}` is a set of models")

    def refuse_lost_state(self) -> None:
        """Raise StateLost where there is no state and runs of the pipeline have left tables."""
        local = self._project.config.state.backend == "local"
        if local and not self._request.start_anew and not self._caller.state.exists():
            refuse_begun_preview(tables_of_pipeline(self._warehouse, self._name))

    def _replication(self, pipeline: ReplicationPipeline, lookups: LookupReader | None) -> DraftRun:
        plan, prospects = preview_replication(
            self._compilation, self._name, pipeline, self._adapter, self._request, self._caller
        )
        tables = [
            present(
                {
                    "table": each.table,
                    "source": each.source,
                    "decision": each.decision,
                    "reason": each.reason,
                    "drift": [_drift(record.to_json()) for record in each.drift] or None,
                }
            )
            for each in prospects
        ]
        refused = {each.model.key for each in plan.copies if each.notes.refusal is not None}
        return self._generated(
            plan.run,
            lookups,
            {"tables": tables, "failed_sources": plan.failed or None},
            frozenset(refused),
            CopiesOutlook(prospects, plan.failed, plan.warnings),
            plan.warnings,
        )

    def _snapshot(self, pipeline: SnapshotPipeline, lookups: LookupReader | None) -> DraftRun:
        known = CopiedTables(self._compilation)
        model, refusal = plan_model(known, self._warehouse, pipeline)
        plan = plan_generated(known, self._name, [model])
        exists = self._warehouse.table(model.target).snapshot() is not None
        decision, reason = ("merge", "rows that changed") if exists else ("load", "never followed")
        if refusal is not None:
            decision, reason = "fail", refusal
        outlook = TablesOutlook((TableOutlook(model.target.full_name, decision, reason),))
        refused = frozenset({model.key}) if refusal is not None else frozenset[str]()
        return self._generated(plan, lookups, encode_report(outlook), refused, outlook)

    def _load(self, pipeline: LoadPipeline, lookups: LookupReader | None) -> DraftRun:
        found = find_files(pipeline, self._project.root, self._sources.checksums)
        choose = self._chooser(pipeline, found, lookups)
        tables = [
            LoadOutlook(
                each.target.full_name,
                decision,
                reason,
                {file.shown: file.digest for file in each.files},
                count,
            )
            for each in found.tables
            for decision, reason, count in (choose(each),)
        ]
        wanted = [
            each.target
            for each, row in zip(found.tables, tables, strict=True)
            if row.decision != "leave"
        ]
        names = [each.full_name for each in wanted]
        last = {} if lookups is None else lookups.last_executions(names)
        relies_on = {
            "tables": {
                each.full_name: observe_table(self._warehouse.table(each)) for each in wanted
            },
            "last_runs": {name: each.run_id for name, each in last.items()},
        }
        outlook = TablesOutlook(tuple(tables))
        document = self._document({**encode_report(outlook), "relies_on": relies_on})
        units = tuple(Unit(name, name) for name in names)
        return DraftRun(document, outlook, self._name, units=units)

    def _chooser(
        self, pipeline: LoadPipeline, found: FolderListing, lookups: LookupReader | None
    ) -> Callable[[TableFiles], tuple[str, str, int]]:
        """What would become of a table's files: a decision, the reason, how many are loaded."""
        history = LoadHistory()
        if lookups is not None:
            history = load_file_history(self._caller.state, lookups, found.tables)
        targets = [each.target for each in found.tables]
        owners = load_owners(self._project, self._name, self._warehouse, lookups, targets)
        context = LoadContext(
            self._name,
            pipeline,
            CopiedTables(self._compilation),
            self._warehouse,
            self._sources,
            _no_engine,
            datetime.now(UTC),
            self._contract(pipeline),
            whole=self._request.builds_whole,
            done=find_resumed_tables(self._name, self._request, self._caller),
            owners=owners,
        )
        selector = FileSelector(context, history)

        def choose(table: TableFiles) -> tuple[str, str, int]:
            try:
                chosen = selector.choose(table)
            except InternalError:
                raise
            except RockyError as error:
                return "fail", str(error), 0
            if chosen is None:
                return "leave", "its files are loaded", 0
            if context.replaces:
                return "replace", "the table is replaced by what the files hold", len(chosen.files)
            return "load", "new files", len(chosen.files)

        return choose

    def _contract(self, pipeline: LoadPipeline) -> Contract | None:
        if pipeline.contract is None:
            return None
        env = self._caller.environment
        return load_contract(self._project.root, pipeline.contract, self._name, env)

    def _quality(self, pipeline: QualityPipeline) -> DraftRun:
        now = datetime.now(UTC)
        known = CopiedTables(self._compilation)
        context = QualityContext(known, self._warehouse, self._caller.state, now)
        try:
            plan = plan_quality(self._name, pipeline, context)
        except NothingSelected as nothing:
            # An earlier pipeline of the same plan may make them.
            note = f"pipeline `{self._name}` is decided when it runs: {nothing}"
            document = self._document({"tables": []})
            return DraftRun(document, TablesOutlook(()), self._name, notes=(note,))
        outlook = TablesOutlook(tuple(map(_checked_outlook, plan.tables)))
        parts = {**encode_report(outlook), "failed_sources": dict(plan.notes.failed) or None}
        return DraftRun(self._document(parts), outlook, self._name)

    def _generated(
        self,
        plan: RunPlan,
        lookups: LookupReader | None,
        parts: dict[str, Any],
        refused: frozenset[str],
        outlook: Outlook,
        warnings: tuple[str, ...] = (),
    ) -> DraftRun:
        """The draft of generated models. Those that are refused have a name and nothing else."""
        scene = PlanScope(
            plan, self._warehouse, Pins({}), self._sources, lookups, {}, datetime.now(UTC)
        )
        relies_on = observe_preconditions(scene)
        steps = [each for each in plan.steps if each.key not in refused]
        fingerprints = fingerprints_of(plan.compilation, [each.key for each in steps])
        changes = {each.key: schema_changes(plan, each, self._warehouse) for each in steps}
        documents = [
            present(
                {
                    **step_facts(plan, each, fingerprints),
                    "schema_changes": change_documents(changes[each.key]),
                }
            )
            for each in steps
        ]
        document = self._document(
            {**parts, "steps": documents, "relies_on": relies_on}, sources_of(plan)
        )
        return DraftRun(
            document,
            outlook,
            self._name,
            plan,
            tuple(steps),
            tuple(_statement(plan, each) for each in steps),
            tuple((step.name, one) for step in steps for one in changes[step.key]),
            tuple(f"warning: {each}" for each in warnings),
        )

    def _document(
        self, parts: dict[str, Any], sources: Iterable[SourceTable] = ()
    ) -> dict[str, Any]:
        pipeline = self._project.config.pipeline[self._name]
        expected = predict_environment(self._adapter, self._caller.environment, self._project.root)
        env_hash = None if expected is None else expected.hash
        return present(
            {
                "pipeline": self._name,
                "type": pipeline.type,
                **place_document(self._project, self._adapter, self._caller, env_hash, sources),
                # A run that writes nothing, as one of checks, would leave no other mark here.
                "last_run": self._last_run,
                **parts,
            }
        )


def _statement(plan: RunPlan, step: Step) -> Statement:
    model = plan.project.models[step.key]
    return Statement("copy", model.target.full_name, model.sql)


def _checked_outlook(table: CheckedTable) -> TableOutlook:
    if table.snapshot is None:
        return TableOutlook(table.name, "check", "as it is when it is checked")
    version = table.snapshot.version
    return TableOutlook(table.name, "check", f"at version {version}", version)


def _drift(record: dict[str, Any]) -> dict[str, Any]:
    """A difference without how many days are left: that changes every day and decides nothing."""
    return {name: value for name, value in record.items() if name != "days_left"}


def _no_engine() -> Engine:
    raise InternalError("choosing files needs no Spark")
