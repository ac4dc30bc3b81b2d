"""The plan of a load: which files are new, and a generated model for each table that has some.

Nothing is written here, and Spark is asked only for the columns of new files. What is wrong with
one table's files is that table's refusal; the others are loaded.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path
from typing import Final

from rocky.datatypes.types import StructField
from rocky.diagnostics import Severity
from rocky.drift.projection import quote_name, type_sql
from rocky.errors import RockyError, SourceUnreadable
from rocky.evidence.hashes import canonical_json, text_hash
from rocky.ledger.pipeline_records import LoadedFile
from rocky.pipelines.generated import (
    GeneratedModel,
    GeneratedSource,
    compile_generated,
    generate_project,
)
from rocky.pipelines.loads.contracts import contract_for
from rocky.pipelines.loads.files import ALREADY_LOADED, Found, FoundFile, FoundTable, new_files
from rocky.pipelines.loads.fitting import Fitted, Given, fit_columns
from rocky.pipelines.loads.headers import FileGroup, group_files
from rocky.pipelines.loads.history import LoadHistory, find_held
from rocky.pipelines.report import Excluded
from rocky.plan.steps import RunPlan, plan_steps
from rocky.project import Project
from rocky.project.contracts import Contract
from rocky.project.documents import Document
from rocky.project.pipelines import LoadPipeline
from rocky.project.strategies import Append, FullRefresh
from rocky.run.engine import Engine
from rocky.run.notes import StepNotes
from rocky.run.sources import Sources
from rocky.store.snapshot import Snapshot
from rocky.store.warehouse import Warehouse

TRUNCATED: Final = "the table is made what the folder holds"
_LOADED_AS: Final = 1
"""Raised when files come to be loaded differently, so that whole folders are loaded once more."""


@dataclass(frozen=True, slots=True)
class LoadGround:
    """A load pipeline and where it works. `open_engine` starts Spark when it is first called.

    `whole` when a full refresh was asked for; `done` are tables that a run which is resumed has
    loaded, by key, with why they are left alone.
    """

    name: str
    pipeline: LoadPipeline
    project: Project
    warehouse: Warehouse
    sources: Sources
    open_engine: Callable[[], Engine]
    now: datetime
    contract: Contract | None = None
    whole: bool = False
    done: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Load:
    """One table to load."""

    model: GeneratedModel
    notes: StepNotes


@dataclass(frozen=True, slots=True)
class LoadPlan:
    """What a run would do. `unchanged` have no new file."""

    loads: tuple[Load, ...]
    unchanged: tuple[FoundTable, ...]
    excluded: tuple[Excluded, ...]
    run: RunPlan


@dataclass(frozen=True, slots=True)
class _Wanted:
    """A table with files to load, before anybody has looked into them."""

    table: FoundTable
    files: tuple[FoundFile, ...]
    snapshot: Snapshot | None
    marker: str
    unrecorded: frozenset[str] = frozenset()


def plan_loads(ground: LoadGround, found: Found, history: LoadHistory) -> LoadPlan:
    """Decide what is loaded into which table."""
    planner = _Planner(ground, history)
    loads = [load for table in found.tables if (load := planner.plan(table)) is not None]
    loads, run = _compiled(ground, loads)
    return LoadPlan(
        tuple(loads),
        tuple(planner.unchanged),
        (*found.excluded, *planner.excluded),
        run,
    )


class _Planner:
    """Plans the tables of one run, one by one."""

    def __init__(self, ground: LoadGround, history: LoadHistory) -> None:
        self._ground = ground
        self._history = history
        self._replacing = ground.whole or ground.pipeline.options.truncate_first
        self._document = Document(str(ground.project.config_path), "", {})
        self.unchanged: list[FoundTable] = []
        self.excluded: list[Excluded] = []

    def plan(self, table: FoundTable) -> Load | None:
        """The load of a table; None when there is nothing to load."""
        if table.target.key in self._ground.done:
            self._exclude(table, table.files, self._ground.done[table.target.key])
            return None
        try:
            wanted = self._find_wanted(table)
            return self._load(wanted) if wanted is not None else None
        except RockyError as error:
            return _refused(self._ground, table, str(error))

    def _find_wanted(self, table: FoundTable) -> _Wanted | None:
        if table.unreadable is not None:
            raise SourceUnreadable(table.unreadable)
        place = self._ground.warehouse.table(table.target)
        snapshot, key = place.snapshot(), table.target.key
        if snapshot is None and not self._ground.pipeline.options.create_table:
            raise SourceUnreadable(
                f"there is no table `{table.target.full_name}`, and `create_table` is false:"
                " create it, or let Rocky do so"
            )
        marker = _marker(self._ground.pipeline, table)
        if self._replacing:
            return self._whole(table, snapshot, marker)
        held = find_held(place, snapshot, key, self._history)
        new, old = new_files(table.files, held.known)
        self._exclude(table, old, ALREADY_LOADED)
        if not new and not held.unrecorded:
            self.unchanged.append(table)
            return None
        return _Wanted(table, tuple(new), snapshot, marker, held.unrecorded)

    def _whole(self, table: FoundTable, snapshot: Snapshot | None, marker: str) -> _Wanted | None:
        """All files of a table, unless the table is just what they are."""
        last = self._history.find_last(table.target.key)
        same = last is not None and snapshot is not None and last.commit_version == snapshot.version
        if same and last is not None and last.source_marker == marker and not self._ground.whole:
            self._exclude(table, table.files, ALREADY_LOADED)
            self.unchanged.append(table)
            return None
        files, copies = new_files(table.files, frozenset())
        self._exclude(table, copies, ALREADY_LOADED)
        return _Wanted(table, tuple(files), snapshot, marker)

    def _load(self, wanted: _Wanted) -> Load:
        ground, target = self._ground, wanted.table.target
        columns = wanted.snapshot.schema if wanted.snapshot and not self._replacing else ()
        engine = ground.open_engine()
        files = wanted.files
        sources: list[GeneratedSource] = []
        fitted = Fitted((), ())
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
            _sql(sources, fitted, columns),
            Append(tuple(sorted(each.digest for each in files))),
            tuple(sources),
        )
        notes = StepNotes(
            ("load", ground.name, target.full_name),
            wanted.marker,
            drift=fitted.drift,
            loaded=tuple(self._records(wanted)),
            full_refresh=TRUNCATED if self._replacing else None,
        )
        return Load(model, notes)

    def _describe(
        self,
        engine: Engine,
        wanted: _Wanted,
        place: int,
        group: FileGroup,
        columns: Sequence[StructField],
    ) -> Given:
        source = self._source(wanted, place, group)
        found = engine.describe(source.declare(self._document))
        if group.format == "csv" and not self._ground.pipeline.options.csv_has_header:
            found = _named(found, columns, self._ground.contract)
        return Given(group, found)

    def _source(self, wanted: _Wanted, place: int, group: FileGroup) -> GeneratedSource:
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
                        f"`{listed[path].shown}` was changed while it was being looked at; move"
                        " files into the folder when they are complete"
                    )

    def _records(self, wanted: _Wanted) -> Iterator[LoadedFile]:
        """What is recorded: the files of the load, and those that a dead run has brought."""
        target, now = wanted.table.target.full_name, self._ground.now
        for each in wanted.files:
            yield LoadedFile(
                target, each.digest, each.shown, each.size, now, replaced=self._replacing
            )
        listed = {each.digest: each for each in wanted.table.files}
        for digest in sorted(wanted.unrecorded):
            found = listed.get(digest)
            # It may have left the folder since; its name is not in the table's log.
            path, size = (found.shown, found.size) if found is not None else ("", 0)
            yield LoadedFile(target, digest, path, size, now)

    def _exclude(self, table: FoundTable, files: Sequence[FoundFile], why: str) -> None:
        name = table.target.full_name
        self.excluded += [Excluded(each.shown, name, why) for each in files]


def _marker(pipeline: LoadPipeline, table: FoundTable) -> str:
    """A hash of the files of a table and of how they are read."""
    options = pipeline.options
    said = {
        "loaded_as": _LOADED_AS,
        "files": sorted({each.digest for each in table.files}),
        "delimiter": options.csv_delimiter,
        "header": options.csv_has_header,
        "contract": pipeline.contract,
    }
    return text_hash(canonical_json(said))


def _named(
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


def _sql(sources: Sequence[GeneratedSource], fitted: Fitted, columns: Sequence[StructField]) -> str:
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


def _compiled(ground: LoadGround, loads: list[Load]) -> tuple[list[Load], RunPlan]:
    """The loads as a plan; one that does not compile, or breaks the contract, fails alone."""
    plan = _plan(ground, loads)
    wrong: dict[str, str] = {}
    for found in plan.compilation.diagnostics:
        if found.severity is Severity.ERROR and found.model is not None:
            wrong.setdefault(found.model.lower(), found.message)
    if not wrong:
        return loads, plan
    checked = [
        _unfit(each, f"nothing was loaded into `{each.model.target.full_name}`: {why}")
        if (why := wrong.get(each.model.key)) is not None
        else each
        for each in loads
    ]
    return checked, _plan(ground, checked)


def _plan(ground: LoadGround, loads: Sequence[Load]) -> RunPlan:
    project = generate_project(ground.project, ground.name, [each.model for each in loads])
    if ground.contract is not None:
        contracts = {
            each.model.key: contract_for(ground.contract, each.model.target.full_name)
            for each in loads
            if each.notes.refusal is None
        }
        project = replace(project, contracts=contracts)
    return plan_steps(compile_generated(project), project.models)


def _refused(ground: LoadGround, table: FoundTable, why: str) -> Load:
    """A table that fails before anything is read: its model only carries its name."""
    model = GeneratedModel(
        table.target, "SELECT CAST(NULL AS STRING) AS unknown", FullRefresh(), ()
    )
    key = ("load", ground.name, table.target.full_name)
    return Load(model, StepNotes(key, refusal=why))


def _unfit(load: Load, why: str) -> Load:
    model = replace(
        load.model, sql="SELECT CAST(NULL AS STRING) AS unknown", strategy=FullRefresh(), sources=()
    )
    return Load(model, StepNotes(load.notes.asset_key, refusal=why))
