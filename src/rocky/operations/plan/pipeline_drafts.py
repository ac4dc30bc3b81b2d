"""Drafts of pipelines that are no sets of models: one function a type.

A replication and a snapshot are generated models, so what they rely on is known as for any model.
Of a load it is the files and the tables they are for, of checks the tables that are checked.
"""

from collections.abc import Iterable
from contextlib import ExitStack
from datetime import UTC, datetime
from typing import Any

from rocky.analysis.compilation import Compilation
from rocky.compiler.fingerprints import fingerprints_of
from rocky.errors import InternalError, NothingSelected, RockyError
from rocky.lazy import load_attribute
from rocky.ledger.readers.lookup import LookupReader, open_lookup_reader
from rocky.operations.plan.draft import (
    DraftRun,
    Statement,
    change_document,
    place_document,
    present,
    schema_changes,
    step_facts,
)
from rocky.plan.estimates import Unit
from rocky.plan.request import RunRequest
from rocky.plan.steps import RunPlan, Step
from rocky.project import Project
from rocky.project.configuration.blocks import Adapter
from rocky.project.configuration.pipelines import (
    LoadPipeline,
    QualityPipeline,
    ReplicationPipeline,
    SnapshotPipeline,
)
from rocky.project.sources import SourceTable
from rocky.run.checksums import Checksums
from rocky.run.engine.protocol import Engine
from rocky.run.engine.sources import Sources
from rocky.run.prepare.caller import Caller
from rocky.run.prepare.environment import predict_environment
from rocky.run.prepare.pins import Pins, open_project_warehouse
from rocky.run.prepare.preconditions import (
    PlanScope,
    observe_preconditions,
    observe_table,
    sources_of,
)
from rocky.store.warehouse import Warehouse


class PipelineDrafts:
    """Drafts the run of one pipeline of a compiled project."""

    def __init__(
        self, compilation: Compilation, name: str, request: RunRequest, means: Caller
    ) -> None:
        self._compilation = compilation
        self._project: Project = compilation.project
        self._name = name
        self._request = request
        self._means = means
        self._last_run: str | None = None
        adapter_of = load_attribute("rocky.plan.adapters", "pipeline_adapter")
        pipeline = self._project.config.pipeline[name]
        self._adapter: Adapter = adapter_of(self._project, pipeline, request.adapter)
        self._warehouse: Warehouse = open_project_warehouse(
            self._adapter, self._project.root, means.environment
        )
        self._sources = Sources(
            self._project.root, self._adapter.conf, Checksums(self._project.root)
        )

    def draft(self) -> DraftRun:
        """What a run of the pipeline would do. Raises what looking at its sources raises."""
        pipeline = self._project.config.pipeline[self._name]
        with ExitStack() as opened:
            lookups = open_lookup_reader(self._means.state)
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

    def _replication(self, pipeline: ReplicationPipeline, lookups: LookupReader | None) -> DraftRun:
        look = load_attribute("rocky.pipelines.replication.preview", "preview_replication")
        plan, prospects = look(
            self._compilation, self._name, pipeline, self._adapter, self._request, self._means
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
            (plan, prospects),
            plan.warnings,
        )

    def _snapshot(self, pipeline: SnapshotPipeline, lookups: LookupReader | None) -> DraftRun:
        plan_model = load_attribute("rocky.pipelines.snapshot", "plan_model")
        plan_generated = load_attribute("rocky.pipelines.generated_models", "plan_generated")
        model, refusal = plan_model(self._project, self._warehouse, pipeline)
        plan = plan_generated(self._project, self._name, [model])
        exists = self._warehouse.table(model.target).snapshot() is not None
        decision, reason = ("merge", "rows that changed") if exists else ("load", "never followed")
        if refusal is not None:
            decision, reason = "fail", refusal
        table = {"table": model.target.full_name, "decision": decision, "reason": reason}
        refused = frozenset({model.key}) if refusal is not None else frozenset[str]()
        return self._generated(plan, lookups, {"tables": [table]}, refused, [table])

    def _load(self, pipeline: LoadPipeline, lookups: LookupReader | None) -> DraftRun:
        find_files = load_attribute("rocky.pipelines.loads.files", "find_files")
        found = find_files(pipeline, self._project.root, self._sources.checksums)
        choose = self._chooser(pipeline, found, lookups)
        tables = []
        for each in found.tables:
            decision, reason, count = choose(each)
            files = {file.shown: file.digest for file in each.files}
            name = each.target.full_name
            tables.append(
                {
                    "table": name,
                    "decision": decision,
                    "reason": reason,
                    "files": files,
                    "files_to_load": count,
                }
            )
        wanted = [
            each.target for each, row in zip(found.tables, tables, strict=True)
            if row["decision"] != "leave"
        ]  # fmt: skip
        names = [each.full_name for each in wanted]
        last = {} if lookups is None else lookups.last_executions(names)
        relies_on = {
            "tables": {
                each.full_name: observe_table(self._warehouse.table(each)) for each in wanted
            },
            "last_runs": {name: each.run_id for name, each in last.items()},
        }
        document = self._document({"tables": tables, "relies_on": relies_on})
        units = tuple(Unit(name, name) for name in names)
        return DraftRun(document, self._name, view=tables, units=units)

    def _chooser(self, pipeline: LoadPipeline, found: Any, lookups: LookupReader | None) -> Any:
        """What would become of a table's files: a decision, the reason, how many are loaded."""
        ground_of = load_attribute("rocky.pipelines.loads.selection", "LoadContext")
        chooser_of = load_attribute("rocky.pipelines.loads.selection", "FileSelector")
        history_of = load_attribute("rocky.pipelines.loads.selection", "LoadHistory")
        load_history = load_attribute("rocky.pipelines.loads.selection", "load_file_history")
        ask_owners = load_attribute("rocky.pipelines.owners", "load_owners")
        state = self._means.state
        history = history_of() if lookups is None else load_history(state, lookups, found.tables)
        targets = [each.target for each in found.tables]
        owners = ask_owners(self._project, self._name, self._warehouse, lookups, targets)
        ground = ground_of(
            self._name,
            pipeline,
            self._project,
            self._warehouse,
            self._sources,
            _no_engine,
            datetime.now(UTC),
            whole=self._request.full_refresh,
            done=self._done(),
            owners=owners,
        )
        chooser = chooser_of(ground, history)

        def choose(table: Any) -> tuple[str, str, int]:
            try:
                chosen = chooser.choose(table)
            except InternalError:
                raise
            except RockyError as error:
                return "fail", str(error), 0
            if chosen is None:
                return "leave", "its files are loaded", 0
            if ground.replaces:
                return "replace", "the table is made what the files hold", len(chosen.files)
            return "load", "new files", len(chosen.files)

        return choose

    def _done(self) -> dict[str, str]:
        """The tables that a run which is to be resumed has loaded. Raises NothingSelected."""
        find = load_attribute("rocky.pipelines.replication.preview", "find_resumed_tables")
        found: dict[str, str] = find(self._name, self._request, self._means)
        return found

    def _quality(self, pipeline: QualityPipeline) -> DraftRun:
        plan_quality = load_attribute("rocky.pipelines.quality", "plan_quality")
        ground_of = load_attribute("rocky.pipelines.quality", "QualityContext")
        now = datetime.now(UTC)
        ground = ground_of(self._project, self._warehouse, self._means.state, now)
        try:
            plan = plan_quality(self._name, pipeline, ground)
        except NothingSelected as nothing:
            # An earlier pipeline of the same plan may make them.
            note = f"pipeline `{self._name}` is decided when it runs: {nothing}"
            return DraftRun(self._document({"tables": []}), self._name, view=[], notes=(note,))
        tables = [
            {
                "table": each.name,
                "decision": "check",
                "reason": f"at version {each.snapshot.version}",
                "version": each.snapshot.version,
            }
            for each in plan.tables
        ]
        parts = {"tables": tables, "failed_sources": dict(plan.notes.failed) or None}
        return DraftRun(self._document(parts), self._name, view=tables)

    def _generated(
        self,
        plan: RunPlan,
        lookups: LookupReader | None,
        parts: dict[str, Any],
        refused: frozenset[str],
        view: Any,
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
                    "schema_changes": [change_document(one) for one in changes[each.key]] or None,
                }
            )
            for each in steps
        ]
        document = self._document(
            {**parts, "steps": documents, "relies_on": relies_on}, sources_of(plan)
        )
        return DraftRun(
            document,
            self._name,
            plan,
            view,
            tuple(steps),
            tuple(_statement(plan, each) for each in steps),
            tuple((step.name, one) for step in steps for one in changes[step.key]),
            tuple(f"warning: {each}" for each in warnings),
        )

    def _document(
        self, parts: dict[str, Any], sources: Iterable[SourceTable] = ()
    ) -> dict[str, Any]:
        pipeline = self._project.config.pipeline[self._name]
        expected = predict_environment(self._adapter, self._means.environment, self._project.root)
        env_hash = None if expected is None else expected.hash
        return present(
            {
                "pipeline": self._name,
                "type": pipeline.type,
                **place_document(self._project, self._adapter, self._means, env_hash, sources),
                # A run that writes nothing, as one of checks, would leave no other mark here.
                "last_run": self._last_run,
                **parts,
            }
        )


def _statement(plan: RunPlan, step: Step) -> Statement:
    model = plan.project.models[step.key]
    return Statement("copy", model.target.full_name, model.sql)


def _drift(record: dict[str, Any]) -> dict[str, Any]:
    """A difference without how many days are left: that changes every day and decides nothing."""
    return {name: value for name, value in record.items() if name != "days_left"}


def _no_engine() -> Engine:
    raise InternalError("choosing files needs no Spark")
