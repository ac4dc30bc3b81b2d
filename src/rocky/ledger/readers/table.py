"""The table reader: all that a ledger knows of tables as they are, or as they were after a run.

Found by target and not by model: a model may have had another name when its table was made. What
is remembered beside executions is kept as it is now; of an earlier time there is only what no run
has written since, and what a promotion says it has replaced.
"""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from rocky.ledger.branch_records import PROMOTIONS, PromotedTable, PromotionRecord
from rocky.ledger.database import translated
from rocky.ledger.pipeline_records import GracePeriod, LoadedFile
from rocky.ledger.provenance import InputIndexEntry, ProvenanceRecord
from rocky.ledger.readers.history import RecordedExecution
from rocky.ledger.readers.lookup import LookupReader
from rocky.ledger.record import RunId, key_of, load_record
from rocky.ledger.run_records import ModelExecution, PartitionRecord, WatermarkState
from rocky.ledger.schema import MODEL_OF_KEY, table_names


@dataclass(frozen=True, slots=True)
class TableRecords:
    """What is known of one table: the execution that left it as it is, and what it was made from.

    `provenance` is that of the build whose files it has; an execution that took them over has
    none of its own. `indexed` are the input hashes by which that build may stand for another,
    `entries` all by which it is found, also those of inputs that were equal in rows or columns.
    """

    run_id: RunId
    execution: ModelExecution
    provenance: ProvenanceRecord | None = None
    indexed: frozenset[str] = frozenset()
    watermark: WatermarkState | None = None
    partitions: tuple[PartitionRecord, ...] = ()
    grace: tuple[GracePeriod, ...] = ()
    loaded: tuple[LoadedFile, ...] = ()
    entries: tuple[InputIndexEntry, ...] = ()


def before_promotion(known: TableRecords, promoted: PromotedTable) -> TableRecords:
    """The same with what was remembered when the table was promoted."""
    return replace(
        known,
        watermark=promoted.watermark_before,
        partitions=promoted.partitions_before,
        grace=promoted.grace_before,
        loaded=promoted.loaded_before,
    )


def _until(known: TableRecords, bound: str) -> TableRecords:
    """Without what runs have written since: what it was before is not known, and is made again."""
    mark = known.watermark
    return replace(
        known,
        watermark=mark if mark is not None and (mark.run_id or "") < bound else None,
        partitions=tuple(each for each in known.partitions if each.run_id < bound),
        grace=tuple(each for each in known.grace if (each.run_id or "") < bound),
        loaded=tuple(each for each in known.loaded if each.run_id < bound),
    )


class TableRecordReader(LookupReader):
    """Finds all there is to know of tables. For one thread."""

    def tables(self, until: str | None = None) -> Mapping[str, TableRecords]:
        """Every table that some run left, by target in lower case; as they were after `until`."""
        return self._newest(None if until is None else f"{until}}}")

    def before(self, run_id: str) -> Mapping[str, TableRecords]:
        """The same as they were before a run began."""
        return self._newest(run_id)

    def _newest(self, bound: str | None) -> Mapping[str, TableRecords]:
        newest: dict[str, RecordedExecution] = {}
        for each in self._committed(bound):
            target = (each.execution.target or "").lower()
            known = newest.get(target)
            if target and (known is None or known.run_id < each.run_id):
                newest[target] = each
        found = {target: self._records(target, each) for target, each in newest.items()}
        if bound is None:
            return found
        replaced = self._promoted_since(bound)
        for target, now in found.items():
            first = replaced.get(target)
            found[target] = _until(now if first is None else before_promotion(now, first), bound)
        return found

    def _committed(self, bound: str | None) -> list[RecordedExecution]:
        """Of each model the newest execution, below a key, that left something in its table."""
        before = "" if bound is None else " AND key < :bound"
        rows = self._connection.execute(
            "WITH models AS"  # noqa: S608 - our own expressions
            f" (SELECT DISTINCT {MODEL_OF_KEY} AS model FROM model_executions)"
            " SELECT key, value FROM model_executions WHERE key IN (SELECT ("
            f" SELECT key FROM model_executions WHERE {MODEL_OF_KEY} = models.model{before}"
            " AND json_extract(value, '$.commit_version') IS NOT NULL"
            " ORDER BY key DESC LIMIT 1) FROM models)",
            {} if bound is None else {"bound": bound},
        ).fetchall()
        return [self._execution(key, value) for key, value in rows]

    def made_since(self, run_id: str) -> Iterator[tuple[ModelExecution, ProvenanceRecord]]:
        """What was built by runs after one, and from what, oldest first."""
        rows = self._ask(
            "SELECT key, value FROM input_provenance WHERE key > ? ORDER BY key", f"{run_id}}}"
        )
        for row in rows:
            made = load_record(ProvenanceRecord, self.path, "input_provenance", *row)
            found = self.execution(made.run_id, made.model_name)
            if found is not None:
                yield found.execution, made

    def _records(self, target: str, found: RecordedExecution) -> TableRecords:
        execution = found.execution
        model = execution.model_name.lower()
        # What is carried elsewhere, or back, is written there as Rocky's own.
        self.check_remembered(model, target)
        made = self._made_by(found)
        hashes = set() if made is None else {made.input_hash, made.cutoff_hash}
        wanted = {*hashes, execution.input_hash} if made is not None else set()
        entries = self.index_entries(each for each in wanted if each is not None)
        return TableRecords(
            found.run_id,
            execution,
            made,
            frozenset(entries.keys() & hashes),
            self._watermark(target),
            self._below(PartitionRecord, "partitions", model),
            self._below(GracePeriod, "grace_periods", target),
            self._below(LoadedFile, "loaded_files", target),
            tuple(entries.values()),
        )

    def _promoted_since(self, bound: str) -> Mapping[str, PromotedTable]:
        """Tables as they were first promoted, or reverted, since; by target."""
        found: dict[str, PromotedTable] = {}
        with translated(self.path, writing=False):
            if PROMOTIONS not in table_names(self._connection):
                return found
        rows = self._ask(
            f"SELECT key, value FROM {PROMOTIONS} WHERE key >= ? ORDER BY key",  # noqa: S608 - one of our own names
            bound,
        )
        for row in rows:
            for each in load_record(PromotionRecord, self.path, PROMOTIONS, *row).tables:
                found.setdefault(each.target.lower(), each)
        return found

    def _made_by(self, found: RecordedExecution) -> ProvenanceRecord | None:
        """What the files of a table were made from, whoever took them over since."""
        execution = found.execution
        if execution.reused_from is not None:
            model = execution.reused_model or execution.model_name
            return self.provenance(execution.reused_from, model)
        own = self.provenance(found.run_id, execution.model_name)
        if own is not None or execution.input_hash is None:
            return own
        # It was found built by a run that did not finish, which is indexed by what it read.
        entry = self.index_entries([execution.input_hash]).get(execution.input_hash)
        return None if entry is None else self.provenance(entry.run_id, entry.model_name)

    def _watermark(self, target: str) -> WatermarkState | None:
        return self._one(WatermarkState, "watermarks", key_of(target))

    def git_commit_runs(self, commit: str) -> tuple[RunId, ...]:
        """The runs of a commit of the code that did not fail, oldest first."""
        rows = self._ask(
            "SELECT key FROM run_history WHERE json_extract(value, '$.git_commit') = ?"
            " AND json_extract(value, '$.status') IN (SELECT value FROM json_each(?)) ORDER BY key",
            commit,
            json.dumps(["Success", "PartialFailure"]),
        )
        return tuple(RunId(key) for (key,) in rows)


open_table_record_reader = TableRecordReader.open
