"""A load run: files found, those that are new loaded, each table by itself as a generated model.

While it is planned nothing is written, and Spark is asked only for the columns of new files. What
is wrong with one table's files is that table's refusal; the others are loaded. Files with other
columns are sources of their own, and the model's query puts their rows together by the names of the
columns. One contract, named in the settings, holds for all tables; those in `contracts/` are for
models.
"""

from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from rocky.analysis.masks.copies import CopiedTables
from rocky.errors import RockyError, SourceUnreadable
from rocky.language.datatypes.types import StructField
from rocky.language.names import quote_name
from rocky.ledger.pipeline_records import LoadedFile
from rocky.pipelines.checks.evaluation import checks_of_targets
from rocky.pipelines.drift.projection import type_sql
from rocky.pipelines.exclusion import Exclusion
from rocky.pipelines.generated_models import (
    GeneratedModel,
    GeneratedSource,
    compile_generated,
    find_errors,
    generate_project,
)
from rocky.pipelines.loads.columns import (
    FileGroup,
    GroupColumns,
    TableFit,
    fit_columns,
    group_files,
)
from rocky.pipelines.loads.contract import contract_for, load_contract
from rocky.pipelines.loads.files import (
    UNKNOWN_FORMAT,
    FolderListing,
    FoundFile,
    TableFiles,
    find_files,
)
from rocky.pipelines.loads.selection import (
    FileSelector,
    Load,
    LoadContext,
    LoadHistory,
    SelectedFiles,
    load_file_history,
)
from rocky.pipelines.owners import load_owners
from rocky.pipelines.pattern_use import TableColumns, stored_columns, unused_patterns
from rocky.pipelines.replication.replication_run import find_completed
from rocky.pipelines.report import PipelineResult
from rocky.plan.refusals import refuse_unsupported
from rocky.plan.request import PARALLEL, Limits, RunRequest
from rocky.plan.steps import RunPlan, plan_steps
from rocky.project.configuration.pipelines import LoadPipeline
from rocky.project.configuration.strategies import Append, FullRefresh
from rocky.project.contracts import Contract
from rocky.project.toml.documents import Document
from rocky.run.engine.protocol import Engine
from rocky.run.execute.runner import run_plan
from rocky.run.outcomes import PipelineContribution, StepNotes
from rocky.run.prepare.resources import RunParameters
from rocky.run.prepare.session import RunSession

REPLACED: Final = "the table is replaced by what the folder holds"


class LoadModels:
    """Makes the models of one run. Threads may share it."""

    def __init__(self, ground: LoadContext) -> None:
        self._ground = ground
        self._document = Document(str(ground.project.config_path), "", {})

    def load(self, wanted: SelectedFiles) -> Load:
        """The load of a table. Raises SourceUnreadable when its files have no use."""
        ground, target = self._ground, wanted.table.target
        columns = wanted.snapshot.schema if wanted.snapshot and not ground.replaces else ()
        engine = ground.open_engine()
        files = wanted.files
        sources: list[GeneratedSource] = []
        fitted = TableFit((), ())
        if files:
            groups = group_files(files, ground.pipeline.options)
            given = [
                self._describe(engine, wanted, place, group, columns)
                for place, group in enumerate(groups)
            ]
            fitted = fit_columns(given, columns, ground.contract)
            sources = [
                replace(self._source(wanted, place, each.group), columns=fit.columns)
                for place, (each, fit) in enumerate(zip(given, fitted.fits, strict=True))
            ]
            self._check_pins(files, sources)
        model = GeneratedModel(
            target,
            _load_query(sources, fitted, columns),
            Append(
                tuple(sorted(each.digest for each in files)),
                wanted.snapshot.version if wanted.snapshot is not None else -1,
            ),
            tuple(sources),
            columns=fitted.names or tuple(each.name for each in columns),
            said=ground.said,
        )
        notes = StepNotes(
            ("load", ground.name, target.full_name),
            wanted.marker,
            drift=fitted.drift,
            loaded=tuple(self._records(wanted)),
            full_refresh=REPLACED if ground.replaces else None,
        )
        return Load(model, notes)

    def _describe(
        self,
        engine: Engine,
        wanted: SelectedFiles,
        place: int,
        group: FileGroup,
        columns: Sequence[StructField],
    ) -> GroupColumns:
        source = self._source(wanted, place, group)
        found = engine.describe(source.declare(self._document))
        if group.format == "csv" and not self._ground.pipeline.options.csv_has_header:
            found = _name_columns(found, columns, self._ground.contract)
        return GroupColumns(group, found)

    def _source(self, wanted: SelectedFiles, place: int, group: FileGroup) -> GeneratedSource:
        pipeline = self._ground.pipeline
        options = {"recursiveFileLookup": "true"}
        if group.format == "csv":
            options["sep"] = pipeline.options.csv_delimiter
            options["header"] = "true" if pipeline.options.csv_has_header else "false"
        table = wanted.table.target.table.replace(".", "_")
        name = f"{table}#{place + 1}" if place else table
        return GeneratedSource(
            f"{self._ground.name.replace('.', '_')}.{name}",
            (),
            group.format,
            pipeline.source_dir,
            options,
            tuple(each.place for each in group.files),
        )

    def _check_pins(self, files: Sequence[FoundFile], sources: Sequence[GeneratedSource]) -> None:
        """Raises SourceUnreadable when what will be read is not what was listed."""
        listed = {str(Path(each.place)): each for each in files}
        for source in sources:
            pin = self._ground.sources.look(source.declare(self._document))
            if pin is None or not pin.hashes:
                continue
            for (path, _, _), digest in zip(pin.files, pin.hashes, strict=True):
                if listed[path].digest != digest:
                    raise SourceUnreadable(
                        f"`{listed[path].shown}` changed while it was being read; move"
                        " files into the folder when they are complete"
                    )

    def _records(self, wanted: SelectedFiles) -> Iterator[LoadedFile]:
        """What is recorded: the files of the load, and those that a dead run has brought."""
        target, now = wanted.table.target.full_name, self._ground.now
        replaced = self._ground.replaces
        for each in wanted.files:
            yield LoadedFile(target, each.digest, each.shown, each.size, now, replaced=replaced)
        listed = {each.digest: each for each in wanted.table.files}
        for digest in sorted(wanted.held.unrecorded):
            found = listed.get(digest)
            # It may have left the folder since; its name is not in the table's log.
            path, size = (found.shown, found.size) if found is not None else ("", 0)
            yield LoadedFile(target, digest, path, size, now, replaced=wanted.held.replaced)


def _name_columns(
    found: Sequence[StructField], columns: Sequence[StructField], contract: Contract | None
) -> tuple[StructField, ...]:
    """Columns of a CSV without header: by position those of the table, or of the contract."""
    names = [each.name for each in columns]
    if not names and contract is not None:
        names = [each.name for each in contract.columns]
    given = [*names[: len(found)], *(each.name for each in found[len(names) :])]
    return tuple(
        StructField(name, each.type, each.nullable) for name, each in zip(given, found, strict=True)
    )


def _load_query(
    sources: Sequence[GeneratedSource], fitted: TableFit, columns: Sequence[StructField]
) -> str:
    if not sources:
        # All is loaded, and only the record of it is missing.
        nulls = (
            f"CAST(NULL AS {type_sql(each.type)}) AS {quote_name(each.name)}" for each in columns
        )
        return f"SELECT {', '.join(nulls)} WHERE FALSE"
    return " UNION ALL ".join(
        f"SELECT {fit.select_list} FROM {source.sql_name}"  # noqa: S608 - names are quoted
        for source, fit in zip(sources, fitted.fits, strict=True)
    )


_AT_ONCE: Final = 16
"""Tables looked at at once: each waits for Spark's analyser."""
_EMPTY_QUERY: Final = "SELECT CAST(NULL AS STRING) AS unknown"


@dataclass(frozen=True, slots=True)
class LoadPlan:
    """What a run would do. `unchanged` have no new file."""

    loads: tuple[Load, ...]
    unchanged: tuple[TableFiles, ...]
    excluded: tuple[Exclusion, ...]
    run: RunPlan


def plan_loads(ground: LoadContext, found: FolderListing, history: LoadHistory) -> LoadPlan:
    """Decide what is loaded into which table."""
    chooser, modeller = FileSelector(ground, history), LoadModels(ground)

    def choose(table: TableFiles) -> SelectedFiles | Load | None:
        try:
            return chooser.choose(table)
        except RockyError as error:
            return _refused(ground, table, str(error))

    def model(chosen: SelectedFiles | Load) -> Load:
        if isinstance(chosen, Load):
            return chosen
        try:
            return modeller.load(chosen)
        except RockyError as error:
            return _refused(ground, chosen.table, str(error))

    chosen = [each for table in found.tables if (each := choose(table)) is not None]
    with ThreadPoolExecutor(_AT_ONCE, thread_name_prefix="rocky-describe") as pool:
        loads = list(pool.map(model, chosen))
    loads, run = _compiled(ground, loads)
    excluded = (*found.excluded, *chooser.excluded)
    return LoadPlan(tuple(loads), tuple(chooser.unchanged), excluded, run)


def _compiled(ground: LoadContext, loads: list[Load]) -> tuple[list[Load], RunPlan]:
    """The loads as a plan; one that does not compile, or breaks the contract, fails alone."""
    plan = _plan(ground, loads)
    wrong = find_errors(plan)
    if not wrong:
        return loads, plan
    checked = [
        _refuse_load(each, f"nothing was loaded into `{each.model.target.full_name}`: {why}")
        if (why := wrong.get(each.model.key)) is not None
        else each
        for each in loads
    ]
    return checked, _plan(ground, checked)


def _plan(ground: LoadContext, loads: Sequence[Load]) -> RunPlan:
    project = generate_project(ground.known, ground.name, [each.model for each in loads])
    if ground.contract is not None:
        contracts = {
            each.model.key: contract_for(ground.contract, each.model.target.full_name)
            for each in loads
            if each.notes.refusal is None
        }
        project = replace(project, contracts=contracts)
    return plan_steps(compile_generated(project), project.models)


def _refused(ground: LoadContext, table: TableFiles, why: str) -> Load:
    """A table that fails before anything is read: its model only carries its name."""
    model = GeneratedModel(table.target, _EMPTY_QUERY, FullRefresh(), ())
    key = ("load", ground.name, table.target.full_name)
    return Load(model, StepNotes(key, refusal=why))


def _refuse_load(load: Load, why: str) -> Load:
    model = replace(load.model, sql=_EMPTY_QUERY, strategy=FullRefresh(), sources=(), columns=())
    return Load(model, StepNotes(load.notes.asset_key, refusal=why))


def run_load(
    opened: RunSession,
    known: CopiedTables,
    name: str,
    pipeline: LoadPipeline,
    request: RunRequest,
) -> PipelineResult:
    """Load the new files of a pipeline. Raises RunRefused, SourceUnreadable, and as `run_plan`."""
    refuse_unsupported(name, pipeline, request)
    resources, project = opened.resources, opened.project
    with resources.ledger.reader() as reader:
        resumed, done = find_completed(reader, name, request.resume)
    found = find_files(pipeline, project.root, resources.sources.checksums)
    contract = None
    if pipeline.contract is not None:
        contract = load_contract(project.root, pipeline.contract, name, opened.caller.environment)
    with resources.ledger.lookups() as lookups:
        history = load_file_history(resources.ledger.path, lookups, found.tables)
        targets = {each.target.key: each.target for each in found.tables}
        owners = load_owners(project, name, resources.warehouse, lookups, targets.values())
    ground = LoadContext(
        name,
        pipeline,
        known,
        resources.warehouse,
        resources.sources,
        resources.open_engine,
        resources.clock(),
        contract,
        request.builds_whole,
        done,
        owners,
    )
    plan = plan_loads(ground, found, history)
    checks = checks_of_targets(resources, pipeline.checks, targets, "load")
    notes = PipelineContribution(
        name,
        {each.model.key: each.notes for each in plan.loads},
        tuple(each.target.full_name for each in plan.unchanged),
        resumed_from=resumed,
        idempotency_key=request.idempotency_key,
        conclude=checks if pipeline.checks.enabled else None,
    )
    execution = pipeline.execution
    concurrency = execution.concurrency if isinstance(execution.concurrency, int) else PARALLEL
    options = RunParameters(
        full_refresh=request.builds_whole,
        reuse=request.reuse,
        notes=notes,
        limits=Limits(
            request.parallel or concurrency,
            fail_fast=execution.fail_fast,
            abort_pct=execution.error_rate_abort_pct,
        ),
        start_anew=request.start_anew,
        force=request.force,
    )
    report = run_plan(
        plan.run, resources, options, listener=opened.caller.listener, stop=opened.stop
    )
    unused = unused_patterns(
        project,
        name,
        [
            TableColumns(each, stored_columns(resources.warehouse.table(each)))
            for each in targets.values()
        ],
    )
    warned = replace(report, warnings=(*report.warnings, *_warnings(found), *unused))
    return PipelineResult(
        "load", warned, plan.excluded, checks.result if pipeline.checks.enabled else None
    )


def _warnings(found: FolderListing) -> list[str]:
    said = []
    unknown = [each.name for each in found.excluded if each.reason == UNKNOWN_FORMAT]
    if unknown:
        more = f" and {len(unknown) - 1} more" if len(unknown) > 1 else ""
        said.append(
            "not loaded, because the file extension does not tell the format:"
            f" `{unknown[0]}`{more};"
            " set `format` for all files"
        )
    if not found.tables:
        said.append("there is no file to load in the folder of this pipeline")
    return said
