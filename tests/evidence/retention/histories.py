"""Histories: a ledger and small tables, built run by run at moments of one's choosing.

Whatever a commit and its files say of their time is set to the moment of the run, so that a year
passes in a second. What every version held is remembered here, apart from any log.
"""

import json
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path

from rocky.evidence.retention.collection import CollectionReport, CollectionRequest, collect_files
from rocky.evidence.retention.decisions import Retention
from rocky.ledger import STATE_FILE, open_evidence_reader, open_ledger
from rocky.ledger.provenance import CollectedFile, ProvenanceRecord, ReadRecord
from rocky.ledger.record import RunId
from rocky.ledger.run_records import (
    ArtifactRecord,
    ModelExecution,
    ModelStatus,
    RunRecord,
    RunStatus,
)
from rocky.ledger.writer import ModelRecords
from rocky.store.data_file import DataFile
from rocky.store.delta.change import Change
from rocky.store.warehouse import Table, Warehouse, open_warehouse
from tests.store.tables import COLUMNS, Name, ids
from tests.table_files import data_files

NOW = datetime(2026, 6, 1, 12, 0, 0, tzinfo=UTC)
KEEP_NOTHING = Retention(max_age_days=0, min_runs_kept=0, min_age_days=0)
MODELS = ("orders", "totals")


def ago(days: float) -> datetime:
    return NOW - timedelta(days=days)


def a_run(moment: datetime, warehouse: str | None = None) -> RunRecord:
    return RunRecord(moment, "Manual", "a54e8a0f", "host", "0.3.0", warehouse=warehouse)


@dataclass(frozen=True)
class Version:
    """What a version of a table held and since when it was the newest."""

    files: frozenset[str]
    moment: datetime


@dataclass(frozen=True)
class Build:
    """One model built by a run: what it left, and what it stood on."""

    run_id: RunId
    model: str
    moment: datetime
    version: int
    base: int | None = None
    reads: tuple[tuple[str, int], ...] = ()
    reused: "Build | None" = None


@dataclass
class Past:
    """A project's tables and state file."""

    root: Path
    builds: list[Build] = field(default_factory=list)
    versions: dict[str, list[Version]] = field(default_factory=dict)
    written: dict[tuple[str, str], datetime] = field(default_factory=dict)

    @property
    def state(self) -> Path:
        return self.root / STATE_FILE

    @property
    def warehouse(self) -> Warehouse:
        return open_warehouse("warehouse", base=self.root)

    def table(self, model: str) -> Table:
        return self.warehouse.table(Name("shop", "core", model))

    def build(
        self,
        model: str,
        days: float,
        *numbers: int,
        operation: str = "REPLACE",
        reads: Sequence[str] = (),
        removing: int = 0,
    ) -> Build:
        """A run that writes a table, one file for each number."""
        table = self.table(model)
        latest = table.snapshot()
        base = None if latest is None or operation == "REPLACE" else latest.version
        held = [] if latest is None else [file.path for file in latest.files]
        removes = frozenset(held[:removing]) if operation == "MERGE" else frozenset()
        adds = tuple(ids(table, number) for number in numbers)
        pins = tuple((each, len(self.versions[each]) - 1) for each in reads)
        return self._commit(table, model, ago(days), adds, operation, removes, base, pins)

    def reuse(self, build: Build, days: float) -> Build | None:
        """A run that commits the files of an earlier one again; None when they are gone."""
        table = self.table(build.model)
        wanted = self.files_of(build)
        if not wanted <= self.stored(build.model):
            return None
        snapshot = table.snapshot(build.version)
        assert snapshot is not None
        return self._commit(
            table, build.model, ago(days), snapshot.files, "REPLACE", frozenset(), None, (), build
        )

    def leave(self, model: str, days: float, number: int) -> None:
        """A file that its writer did not commit, and one that it did not even name."""
        table = self.table(model)
        file = ids(table, number)
        self._age(table, [file.path], ago(days))
        staged = f"{table.prefix}/{table.new_staging()}/part-0.parquet"
        table.objects.put(staged, b"half a file")
        path = table.objects.local_path(staged)
        assert path is not None
        os.utime(path, (ago(days).timestamp(),) * 2)

    @contextmanager
    def running(self, days: float, *models: str) -> Iterator[RunId]:
        """A run that goes on meanwhile."""
        with open_ledger(self.state) as ledger:
            targets = [f"shop.core.{model}" for model in models]
            yield ledger.begin_run(a_run(ago(days)), targets)

    def collect(
        self, retention: Retention = KEEP_NOTHING, *, days: float = 0, dry_run: bool = False
    ) -> CollectionReport:
        return collect_files(
            self.state, [self.warehouse], CollectionRequest(retention, dry_run, ago(days))
        )

    def stored(self, model: str) -> set[str]:
        """The names of the data files that lie in a table's folder."""
        folder = self.root / "warehouse" / "shop" / "core" / model
        return {path.name for path in data_files(folder)}

    def staged(self, model: str) -> list[Path]:
        folder = self.root / "warehouse" / "shop" / "core" / model
        return [path for path in folder.glob("_staging/**/*") if path.is_file()]

    def everything(self) -> dict[str, bytes]:
        """All bytes below the project's folder, but for SQLite's side files."""
        return {
            str(path.relative_to(self.root)): path.read_bytes()
            for path in sorted(self.root.rglob("*"))
            if path.is_file() and not path.name.endswith(("-shm", "-wal"))
        }

    def recorded(self) -> tuple[CollectedFile, ...]:
        reader = open_evidence_reader(self.state)
        assert reader is not None
        with reader:
            return reader.collected()

    def files_of(self, build: Build) -> frozenset[str]:
        return self.versions[build.model][build.version].files

    def _commit(
        self,
        table: Table,
        model: str,
        moment: datetime,
        adds: tuple[DataFile, ...],
        operation: str,
        removes: frozenset[str],
        base: int | None,
        pins: tuple[tuple[str, int], ...],
        reused: Build | None = None,
    ) -> Build:
        target = f"shop.core.{model}"
        with open_ledger(self.state) as ledger:
            run_id = ledger.begin_run(a_run(moment, table.objects.place("")), [target])
            info = {"runId": run_id, "ledgerId": ledger.ledger_id, "model": model}
            change = Change(
                operation, table.snapshot(), COLUMNS, (), adds, removes=removes, info=info
            )
            committed = table.commit(change)
            placed = () if reused else adds
            self._age(table, [file.path for file in (*placed, *committed.added)], moment)
            self._age_commit(table, committed.snapshot.version, moment)
            version, files = committed.snapshot.version, committed.snapshot.files
            self.versions.setdefault(model, []).append(
                Version(frozenset(file.path for file in files), moment)
            )
            build = Build(run_id, model, moment, version, base, pins, reused)
            self.builds.append(build)
            execution = ModelExecution(
                model,
                ModelStatus.SUCCESS if reused is None else ModelStatus.REUSED,
                moment,
                moment,
                1,
                target=target,
                commit_version=version,
                reused_from=None if reused is None else (reused.reused or reused).run_id,
            )
            places = [table.objects.place(f"{table.prefix}/{file.path}") for file in files]
            artifacts = [
                ArtifactRecord(file.address, run_id, model, place, version, file.size, moment)
                for file, place in zip(files, places, strict=True)
                if file in committed.added
            ]
            provenance = ProvenanceRecord(
                run_id,
                model,
                target,
                "recipe",
                "skip",
                "{}",
                "SELECT 1",
                moment,
                moment,
                output_blake3=tuple(file.address for file in files),
                output_path=tuple(places),
                output_version=version,
                base_version=base,
                reads=_reads(pins),
            )
            ledger.record_models(
                run_id,
                [
                    ModelRecords(
                        execution, artifacts, provenance=provenance if reused is None else None
                    )
                ],
            )
            ledger.finish_run(run_id, RunStatus.SUCCESS, moment)
        return build

    def _age(self, table: Table, paths: Sequence[str], moment: datetime) -> None:
        for each in paths:
            path = table.objects.local_path(f"{table.prefix}/{each}")
            assert path is not None
            os.utime(path, (moment.timestamp(),) * 2)
            self.written[table.prefix.rpartition("/")[2], each] = moment

    def _age_commit(self, table: Table, version: int, moment: datetime) -> None:
        path = table.objects.local_path(table.log.commit_path(version))
        assert path is not None
        lines = [json.loads(line) for line in path.read_text().splitlines()]
        for line in lines:
            if "commitInfo" in line:
                line["commitInfo"]["timestamp"] = int(moment.timestamp() * 1000)
        path.write_text("".join(f"{json.dumps(line)}\n" for line in lines))
        os.utime(path, (moment.timestamp(),) * 2)


def _reads(pins: Sequence[tuple[str, int]]) -> tuple[ReadRecord, ...]:
    """Every other one behind an inline query: those are read as well."""
    reads = [
        ReadRecord(f"v_{model}", "table", model, f"shop.core.{model}", version)
        for model, version in pins
    ]
    inline = ReadRecord("v_inline", "inline", "inline", sql="SELECT 1", reads=tuple(reads[::2]))
    return (inline, *reads[1::2])
