"""The lookup reader: what a run, a replay, a collection and pipelines ask of the past, in bulk.

Each question is asked once for all models or tables. Answers are those of the moment: while a run
goes on the file grows. An index entry points at a result that was recorded; whether its files are
still there only the tables can say.
"""

import json
from collections.abc import Collection, Iterable
from dataclasses import dataclass, fields
from typing import Final, NamedTuple

from rocky.errors import LedgerUnreadable
from rocky.ledger.claims import is_alive
from rocky.ledger.database import translated
from rocky.ledger.erasure_records import ErasureRecord, load_certificates
from rocky.ledger.pipeline_records import GracePeriod
from rocky.ledger.provenance import InputIndexEntry, ProvenanceRecord
from rocky.ledger.readers.history import LedgerReader, RecordedExecution
from rocky.ledger.record import Record, RunId, key_of, load_record
from rocky.ledger.row_evidence import check_row, check_rows_below, check_table, is_untouched
from rocky.ledger.run_records import (
    NO_MARK,
    ModelStatus,
    WatermarkState,
)
from rocky.ledger.schema import HASH_OF_ARTIFACT, MODEL_OF_KEY, RUNNING, UNFINISHED


@dataclass(frozen=True, slots=True)
class LastCopy(Record):
    """Of a model's execution what decides whether a copy is as it should be.

    A thousand of them are read when nothing is to be done, so no more is read than that.
    """

    status: ModelStatus
    commit_version: int | None = None
    watermark: str | None = None
    source_marker: str | None = None
    copied_from: str | None = None
    target: str | None = None


# SQLite takes these out of a row faster than Python reads the row.
_OF_LAST_COPY: Final = "json_object({})".format(
    ", ".join(f"'{each.name}', json_extract(value, '$.{each.name}')" for each in fields(LastCopy))
)


class RecordedCopy(NamedTuple):
    """The last copy of a table and the run that made it."""

    run_id: RunId
    copy: LastCopy


class PipelineReader(LedgerReader):
    """Finds what pipelines left behind."""

    def watermarked(self, tables: Iterable[str]) -> tuple[frozenset[str], dict[str, str]]:
        """Those of some tables that have a watermark; and those whose row is no use, with why."""
        wanted = {key_of(table.lower()): table for table in tables}
        rows = self._ask(
            "SELECT key, value FROM watermarks WHERE key IN (SELECT value FROM json_each(?))",
            json.dumps(list(wanted)),
        )
        known, unreadable = set[str](), dict[str, str]()
        for key, table in wanted.items():
            try:
                self._check_row("watermarks", key)
            except LedgerUnreadable as error:
                unreadable[table] = str(error)
        for key, value in rows:
            if wanted[key] in unreadable:
                continue
            try:
                found = load_record(WatermarkState, self.path, "watermarks", key, value)
            except LedgerUnreadable as error:
                unreadable[wanted[key]] = str(error)
            else:
                if found.last_value != NO_MARK:
                    known.add(wanted[key])
        return frozenset(known), unreadable

    def _check_row(self, table: str, key: str) -> None:
        if self.is_chained:
            with translated(self.path, writing=False):
                check_row(self._connection, self.path, table, key)

    def last_copies(self, tables: Iterable[str]) -> dict[str, RecordedCopy]:
        """The newest execution of each copy, however it ended, by the name that was given."""
        newest = self._newest_rows(tables, _OF_LAST_COPY)
        return {table: self._copy(key, value) for table, key, value in newest}

    def committed_copies(self, tables: Iterable[str]) -> dict[str, RecordedCopy]:
        """Of each copy the newest execution that left something in its table, by the name."""
        wanted = {key_of(table.lower()): table for table in tables}
        rows = self._ask(
            f"SELECT key, {_OF_LAST_COPY} FROM model_executions WHERE key IN (SELECT ("  # noqa: S608 - our own expressions
            f" SELECT key FROM model_executions WHERE {MODEL_OF_KEY} = wanted.value"
            " AND json_extract(value, '$.commit_version') IS NOT NULL ORDER BY key DESC LIMIT 1)"
            " FROM json_each(?) AS wanted)",
            json.dumps(list(wanted)),
        )
        return {wanted[key.partition("|")[2]]: self._copy(key, value) for key, value in rows}

    def _copy(self, key: str, value: str) -> RecordedCopy:
        found = load_record(LastCopy, self.path, "model_executions", key, value)
        return RecordedCopy(RunId(key.partition("|")[0]), found)

    def source_columns(self, model: str) -> str | None:
        """JSON of the columns that a copy's source had when it was last copied."""
        rows = self._ask(
            f"SELECT json_extract(value, '$.source_columns') FROM model_executions"  # noqa: S608 - one of our own expressions
            f" WHERE {MODEL_OF_KEY} = ? AND json_extract(value, '$.source_columns') IS NOT NULL"
            " ORDER BY key DESC LIMIT 1",
            key_of(model.lower()),
        )
        return str(rows[0][0]) if rows else None

    def newest_of_all(self) -> dict[str, str]:
        """Every model and table that was ever recorded, in lower case, with its newest run."""
        rows = self._ask(
            f"SELECT {MODEL_OF_KEY}, max(key) FROM model_executions GROUP BY {MODEL_OF_KEY}"  # noqa: S608 - one of our own expressions
        )
        return {model: newest.partition("|")[0] for model, newest in rows}

    def pipelines_of(self, run_ids: Iterable[str]) -> dict[str, str]:
        """The pipelines that some runs were of, by run; those of models alone are left out."""
        rows = self._ask(
            "SELECT key, json_extract(value, '$.pipeline') FROM run_history"
            " WHERE key IN (SELECT value FROM json_each(?))"
            " AND json_extract(value, '$.pipeline') IS NOT NULL",
            json.dumps(sorted(set(run_ids))),
        )
        return dict(rows)

    def check_outcomes(
        self, run_ids: Iterable[str], wanted: Collection[str] = ()
    ) -> dict[tuple[str, str], dict[str, bool]]:
        """Checks by run and table, in lower case: their names, and whether they passed.

        Those that did not, and of those that did the `wanted`.
        """
        rows = self._ask(
            "SELECT run.key, json_extract(outcome.value, '$.table'),"
            " json_extract(outcome.value, '$.name'), json_extract(outcome.value, '$.passed')"
            " FROM run_history AS run, json_each(run.value, '$.check_outcomes') AS outcome"
            " WHERE run.key IN (SELECT value FROM json_each(?))"
            " AND (NOT json_extract(outcome.value, '$.passed')"
            " OR json_extract(outcome.value, '$.name') IN (SELECT value FROM json_each(?)))",
            json.dumps(sorted(set(run_ids))),
            json.dumps(sorted(wanted)),
        )
        found: dict[tuple[str, str], dict[str, bool]] = {}
        for run_id, table, name, passed in rows:
            of_table = found.setdefault((run_id, table.lower()), {})
            of_table[name] = bool(passed) and of_table.get(name, True)
        return found

    def grace_periods(self) -> tuple[GracePeriod, ...]:
        """Every column on notice, by table. Raises LedgerUnreadable where one was tampered with."""
        if self.is_chained:
            with translated(self.path, writing=False):
                check_table(self._connection, self.path, "grace_periods")
        return self._all(GracePeriod, "grace_periods")

    def runs_of_plan(self, plan_id: str) -> tuple[RunId, ...]:
        """The runs that were made to carry out a kept plan, oldest first."""
        rows = self._ask(
            "SELECT key FROM run_history WHERE json_extract(value, '$.plan_id') = ? ORDER BY key",
            plan_id,
        )
        return tuple(RunId(key) for (key,) in rows)

    def last_run_of(self, pipeline: str) -> RunId | None:
        """The newest run of a pipeline, however it ended."""
        rows = self._ask(
            "SELECT key FROM run_history WHERE json_extract(value, '$.pipeline') = ?"
            " ORDER BY key DESC LIMIT 1",
            pipeline,
        )
        return RunId(rows[0][0]) if rows else None


class ErasureReader(PipelineReader):
    """Finds what erasures have certified."""

    def certificates(self) -> tuple[ErasureRecord, ...]:
        """Those of all erasures, oldest first."""
        with translated(self.path, writing=False):
            return load_certificates(self._connection, self.path)


class LookupReader(ErasureReader):
    """Finds records by what they are about."""

    def provenance(self, run_id: str, model: str) -> ProvenanceRecord | None:
        """What a run made a model from; None when it did not build it."""
        return self._one(ProvenanceRecord, "input_provenance", key_of(run_id, model.lower()))

    def provenances(self, run_id: str) -> tuple[ProvenanceRecord, ...]:
        """What a run made its models from, by model."""
        return self._below(ProvenanceRecord, "input_provenance", run_id)

    def index_entries(self, input_hashes: Iterable[str]) -> dict[str, InputIndexEntry]:
        """The results that may stand for builds, by `input_hash`; those there are."""
        rows = self._ask(
            "SELECT key, value FROM input_index WHERE key IN (SELECT value FROM json_each(?))",
            json.dumps(sorted(set(input_hashes))),
        )
        return {
            key: load_record(InputIndexEntry, self.path, "input_index", key, value)
            for key, value in rows
        }

    def execution(self, run_id: str, model: str) -> RecordedExecution | None:
        """What a run did with a model."""
        key = key_of(run_id, model.lower())
        rows = self._ask("SELECT key, value FROM model_executions WHERE key = ?", key)
        return self._execution(*rows[0]) if rows else None

    def is_untouched(self, table: str, key: str) -> bool:
        """Whether a row is as Rocky wrote it: of `input_index`, `input_provenance`, `run_history`.

        Compares one row with its entry, quickly, so that nothing is reused by a row that somebody
        else has changed. Whether the chain itself is whole is for `verify` to say.
        """
        if not self.is_chained:
            return False
        rows = self._ask(f"SELECT value FROM {table} WHERE key = ?", key)  # noqa: S608 - one of our own names
        with translated(self.path, writing=False):
            return bool(rows) and is_untouched(self._connection, table, key, rows[0][0])

    def check_remembered(self, model: str, table: str) -> None:
        """Raise LedgerUnreadable unless all that is remembered of a table is as Rocky wrote it.

        Its watermark, time intervals, columns on notice, loaded files and counts of rows: a row
        that somebody took out must not pass for one that was never there.
        """
        if not self.is_chained:
            return
        key = key_of(table.lower())
        with translated(self.path, writing=False):
            for name in ("watermarks", "check_history"):
                check_row(self._connection, self.path, name, key)
            for name, first in (
                ("partitions", model.lower()),
                ("grace_periods", table.lower()),
                ("loaded_files", table.lower()),
            ):
                check_rows_below(self._connection, self.path, name, first)

    def last_executions(self, models: Iterable[str]) -> dict[str, RecordedExecution]:
        """The newest execution of each model, however it ended, by the name that was given."""
        return {
            model: self._execution(key, value) for model, key, value in self._newest_rows(models)
        }

    def recorded_hashes(self, hashes: Iterable[str]) -> frozenset[str]:
        """Those of some files that any run has recorded."""
        rows = self._ask(
            f"SELECT DISTINCT {HASH_OF_ARTIFACT} FROM output_artifacts"  # noqa: S608 - one of our own expressions
            f" WHERE {HASH_OF_ARTIFACT} IN (SELECT value FROM json_each(?))",
            json.dumps(sorted(set(hashes))),
        )
        return frozenset(digest for (digest,) in rows)

    def unfinished_runs(self) -> frozenset[RunId]:
        """The runs that died or gave up: what they committed last they may not have recorded."""
        recorded = self._ask(f"SELECT key FROM run_history WHERE {UNFINISHED}")  # noqa: S608 - one of our own expressions
        return frozenset(RunId(key) for (key,) in recorded) | self.running_runs()

    def running_runs(self) -> frozenset[RunId]:
        """The runs that have not said how they ended, and that no process of this machine makes."""
        running = self._ask(f"SELECT key FROM run_history WHERE {RUNNING}")  # noqa: S608 - one of our own expressions
        return frozenset(RunId(key) for (key,) in running if not is_alive(self.path, key))
