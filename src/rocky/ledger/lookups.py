"""Look-ups: what a run, a replay and a collection ask of the past, many models at a time.

Answers are those of the moment: while a run goes on the file grows. An index entry points at a
result that was recorded; whether its files are still there only the tables can say.
"""

import json
from collections.abc import Iterable
from pathlib import Path

from rocky.ledger.claims import is_alive
from rocky.ledger.database import READER_PATIENCE_SECONDS, connect_reader, translated
from rocky.ledger.pipeline_questions import PipelineQuestions
from rocky.ledger.provenance import InputIndexEntry, ProvenanceRecord
from rocky.ledger.questions import RecordedExecution
from rocky.ledger.record import RunId
from rocky.ledger.rows import key_of, load_record
from rocky.ledger.schema import HASH_OF_ARTIFACT, RUNNING, UNFINISHED
from rocky.ledger.transcript import is_untouched


def open_lookups(path: Path, patience: float = READER_PATIENCE_SECONDS) -> "Lookups | None":
    """Look-ups, or None when there is no ledger yet. Raises LedgerUnreadable, LedgerLocked."""
    connection = connect_reader(path, patience)
    return Lookups(path, connection) if connection is not None else None


class Lookups(PipelineQuestions):
    """Finds records by what they are about."""

    def provenance(self, run_id: str, model: str) -> ProvenanceRecord | None:
        """What a run made a model from; None when it did not build it."""
        key = key_of(run_id, model.lower())
        rows = self._ask("SELECT key, value FROM input_provenance WHERE key = ?", key)
        return self._provenance(*rows[0]) if rows else None

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

    def refcount(self, blake3_hash: str) -> int:
        """How many records point at a file with these bytes: two or more where it was reused."""
        rows = self._ask(
            f"SELECT count(*) FROM output_artifacts WHERE {HASH_OF_ARTIFACT} = ?",  # noqa: S608 - one of our own expressions
            blake3_hash,
        )
        return int(rows[0][0])

    def unfinished_runs(self) -> frozenset[RunId]:
        """The runs that died or gave up: what they committed last they may not have recorded."""
        recorded = self._ask(f"SELECT key FROM run_history WHERE {UNFINISHED}")  # noqa: S608 - one of our own expressions
        return frozenset(RunId(key) for (key,) in recorded) | self.running_runs()

    def running_runs(self) -> frozenset[RunId]:
        """The runs that have not said how they ended, and that no process of this machine makes."""
        running = self._ask(f"SELECT key FROM run_history WHERE {RUNNING}")  # noqa: S608 - one of our own expressions
        return frozenset(RunId(key) for (key,) in running if not is_alive(self.path, key))

    def _provenance(self, key: str, value: str) -> ProvenanceRecord:
        return load_record(ProvenanceRecord, self.path, "input_provenance", key, value)
