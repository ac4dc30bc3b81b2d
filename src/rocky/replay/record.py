"""The record of a run: each model with the build that made its table, and whether it is sound.

A model that a run took over from another was made by that one, and so it is that record which tells
how. A record that somebody changed would prove nothing, and a model with a clock or dice in it
would differ for no reason of ours: both are found before anything is run. Nothing here needs the
project, its tables or Spark.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from rocky.canonical import text_hash
from rocky.diagnostics.suggestion import suggestion
from rocky.errors import NothingSelected
from rocky.ledger import LATEST, RecordedExecution, open_history_reader, open_lookup_reader
from rocky.ledger.provenance import (
    ProvenanceRecord,
    ReadRecord,
    input_hash_of,
    skip_hash_of,
    source_hash,
)
from rocky.ledger.readers.history import HistoryReader
from rocky.ledger.readers.lookup import LookupReader
from rocky.ledger.record import RunId, key_of
from rocky.ledger.run_records import ArtifactRecord, ModelExecution, ModelStatus, RunRecord
from rocky.plan.steps import RESUMED
from rocky.project.configuration.strategies import NOTES_THE_TIME

_SEED: Final = "seed"
_INLINE: Final = frozenset({"ephemeral", "view"})
_PROVENANCE: Final = "input_provenance"


@dataclass(frozen=True, slots=True)
class RecordedModel:
    """A model of a run: `built_by` is the run that made its table, `provenance` from what.

    `made` is the execution of that build, where it is still recorded. `touched` when the record is
    not as it was written.
    """

    execution: ModelExecution
    built_by: RunId
    provenance: ProvenanceRecord | None = None
    made: ModelExecution | None = None
    artifacts: tuple[ArtifactRecord, ...] = ()
    touched: bool = False

    @property
    def name(self) -> str:
        return self.execution.model_name

    @property
    def without_table(self) -> str | None:
        """Why there is nothing to build again; None where there is."""
        if self.execution.strategy == _SEED:
            return "loaded from a file of the project"
        if self.execution.strategy in _INLINE:
            return "a query without a table: its readers are built from it"
        return None


@dataclass(frozen=True, slots=True)
class RecordedRun:
    """A run and its models, in the order in which they ended."""

    run: RunRecord
    models: tuple[RecordedModel, ...]


def load_recorded_run(state: Path, run_id: str, models: Sequence[str] = ()) -> RecordedRun:
    """A run by its id or the `latest`, all its models or those named. Raises NothingSelected."""
    reader = open_history_reader(state)
    if reader is None:
        raise NothingSelected("no run is recorded yet; `rocky run` makes the first")
    with reader:
        run = reader.run(run_id)
        if run is None:
            known = [each.run_id for each in reader.runs(limit=50)]
            hint = suggestion(run_id, [*known, LATEST]) or "`rocky history` lists them"
            raise NothingSelected(f"no run `{run_id}`; {hint}")
        executions = _choose_models(run, models)
        lookups = open_lookup_reader(state)
        assert lookups is not None
        with lookups:
            history = _History(run.run_id, reader, lookups)
            found = [history.model(each) for each in executions]
    return RecordedRun(run, tuple(found))


def _choose_models(run: RunRecord, models: Sequence[str]) -> tuple[ModelExecution, ...]:
    if not models:
        return run.models_executed
    by_name: Mapping[str, ModelExecution] = {
        each.model_name.lower(): each for each in run.models_executed
    }
    for name in models:
        if name.lower() not in by_name:
            names = [each.model_name for each in run.models_executed]
            hint = suggestion(name, names) or f"`rocky replay {run.run_id}` shows what it did"
            raise NothingSelected(f"no model `{name}` in {run.run_id}; {hint}")
    wanted = {name.lower() for name in models}
    return tuple(each for each in run.models_executed if each.model_name.lower() in wanted)


class _History:
    """One run among the others."""

    def __init__(self, run_id: RunId, reader: HistoryReader, lookups: LookupReader) -> None:
        self._run_id = run_id
        self._reader = reader
        self._lookups = lookups
        self._made = {each.model_name.lower(): each for each in lookups.provenances(run_id)}
        self._artifacts: dict[str, list[ArtifactRecord]] = {}
        for each in reader.artifacts(run_id):
            self._artifacts.setdefault(each.model_name.lower(), []).append(each)

    def model(self, execution: ModelExecution) -> RecordedModel:
        """A model with what made it, in this run or in an earlier one."""
        key = execution.model_name.lower()
        artifacts = tuple(self._artifacts.get(key, ()))
        made, provenance = RecordedExecution(self._run_id, execution), self._made.get(key)
        if provenance is None:
            earlier = self._maker(execution)
            if earlier is None:
                return RecordedModel(execution, self._run_id, artifacts=artifacts)
            # The model may have had another name when it was built.
            key = earlier.execution.model_name.lower()
            made, provenance = earlier, self._lookups.provenance(earlier.run_id, key)
        row = key_of(made.run_id, key)
        touched = provenance is not None and not self._lookups.is_untouched(_PROVENANCE, row)
        return RecordedModel(execution, made.run_id, provenance, made.execution, artifacts, touched)

    def _maker(self, execution: ModelExecution) -> RecordedExecution | None:
        """The execution that made what this one found; None when it made it, or nobody did."""
        if execution.reused_from is None and execution.decision != RESUMED:
            return None
        if execution.reused_from is not None:
            return self._built(execution)
        for earlier in self._reader.executions(execution.model_name):
            # What was resumed is what the last run before this one had made, or had taken over.
            before = earlier.execution
            if earlier.run_id >= self._run_id or before.commit_version != execution.commit_version:
                continue
            if before.status is ModelStatus.SUCCESS:
                return earlier
            if before.reused_from is not None:
                return self._built(before)
        return None

    def _built(self, reused: ModelExecution) -> RecordedExecution | None:
        assert reused.reused_from is not None
        return self._lookups.execution(reused.reused_from, reused.reused_model or reused.model_name)


_VOLATILE: Final = "volatile:"
_VALUES: Final = ("blake3_hash", "input_hash", "version")


class NotReplayable(ValueError):
    """A model that cannot be built again; the message says why."""


def ir_of(record: ProvenanceRecord) -> Mapping[str, Any]:
    """The IR document of a record. Raises NotReplayable."""
    try:
        found = json.loads(record.model_ir_canonical_json)
    except ValueError:
        found = None
    if not isinstance(found, dict):
        raise NotReplayable(_describe_mismatch("its IR is not JSON"))
    return found


def check_record(record: ProvenanceRecord, made: ModelExecution | None) -> None:
    """Raise NotReplayable unless every hash in a record is of what stands beside it."""
    for wrong in _mismatches(record, made):
        raise NotReplayable(_describe_mismatch(wrong))


def check_determinism(record: ProvenanceRecord) -> None:
    """Raise NotReplayable for a model with a clock, dice or the like in it.

    One whose rows may come in another order is not refused: most give the same rows all the same,
    and for one that does not the reason is known (`doubts_of`).
    """
    for reader, reason in _reasons(record):
        # A snapshot is told the time of the run again: it is in the record.
        if reason.startswith(_VOLATILE) and reason != NOTES_THE_TIME:
            who = "it" if reader is None else f"it reads `{reader}`, which"
            raise NotReplayable(f"{who} does not give the same rows twice: {reason}")


def check_functions(record: ProvenanceRecord, functions: Mapping[str, str]) -> None:
    """Raise NotReplayable where a function that was called is not what it was.

    `functions` are the digests of those that the project declares now, by lower-case name.
    """
    for name, digest in _called(record):
        now = functions.get(name)
        if now != digest:
            what = "is no longer declared" if now is None else "is not what it was"
            raise NotReplayable(
                f"it calls the function `{name}`, which {what}: check out the project as it was"
            )


def _called(record: ProvenanceRecord) -> Iterator[tuple[str, str]]:
    """The declared functions that a model and the queries inside it called, with their digests."""
    for each in ir_of(record).get("functions", ()):
        yield str(each.get("name")), str(each.get("digest"))
    for read in _reads_below(record.reads):
        yield from (read.functions or {}).items()


def doubts_of(record: ProvenanceRecord) -> list[str]:
    """Why a model may give other rows from the same inputs, though nothing in it is volatile."""
    return [
        f"in `{reader or record.model_name}`, {reason.partition(': ')[2]}"
        for reader, reason in _reasons(record)
        if not reason.startswith(_VOLATILE)
    ]


def _reasons(record: ProvenanceRecord) -> Iterator[tuple[str | None, str]]:
    """Why a model may not repeat, with the query it reads that is to blame, if it is not itself."""
    for reason in ir_of(record).get("determinism", ()):
        yield None, str(reason)
    for read in _reads_below(record.reads):
        for reason in read.determinism:
            yield read.name, reason


def _describe_mismatch(wrong: str) -> str:
    return f"the record does not match its hashes: {wrong}; `rocky verify` says more"


def _mismatches(record: ProvenanceRecord, made: ModelExecution | None) -> Iterator[str]:
    ir = ir_of(record)
    if text_hash(record.model_ir_canonical_json) != record.recipe_hash:
        yield "its IR is not the one that was hashed (`recipe_hash`)"
    try:
        skip_hash = skip_hash_of(ir)
    except (KeyError, TypeError):
        skip_hash = ""
    if skip_hash != record.skip_hash:
        yield "its IR does not give its `skip_hash`"
    if ir.get("target") != record.target:
        yield f"its IR is of `{ir.get('target')}`"
    if record.env_canonical_json is not None and (
        text_hash(record.env_canonical_json) != record.env_hash
    ):
        yield "its settings are not those that were hashed (`env_hash`)"
    if record.input_hash is not None:
        if input_hash_of(record.skip_hash, record.target, record.upstreams) != record.input_hash:
            yield "its inputs are not those that were hashed (`input_hash`)"
        yield from _other_inputs(record.reads, record.upstreams)
    for read in _reads_below(record.reads):
        yield from _wrong_read(read)
    if made is not None:
        yield from _other_execution(record, made)


def _other_inputs(
    reads: tuple[ReadRecord, ...], upstreams: tuple[Mapping[str, str], ...]
) -> Iterator[str]:
    """What was read must be what was hashed, input by input."""
    hashed = {_value(each) for each in upstreams}
    read = {each.identity for each in reads}
    if hashed != read:
        yield "what it read is not what was hashed (`upstreams`)"
    declared = {each["declaration_hash"] for each in upstreams if "declaration_hash" in each}
    for each in reads:
        if each.declaration is not None and text_hash(each.declaration) not in declared:
            yield f"source `{each.name}` is not declared as it was hashed"


def _value(upstream: Mapping[str, str]) -> str | None:
    return next((upstream[name] for name in _VALUES if name in upstream), None)


def _wrong_read(read: ReadRecord) -> Iterator[str]:
    files = [(each.path, each.blake3_hash) for each in read.files if each.blake3_hash is not None]
    if read.kind == "source" and files and len(files) == len(read.files):
        if source_hash(files) != read.identity:
            yield f"the files of source `{read.name}` are not those that were hashed"
    elif read.kind == "inline" and read.identity is not None:
        made = input_hash_of(read.skip_hash or "", read.target or "", read.upstreams)
        if made != read.identity:
            yield f"the inputs of `{read.name}` are not those that were hashed"
        yield from _other_inputs(read.reads, read.upstreams)


def _other_execution(record: ProvenanceRecord, made: ModelExecution) -> Iterator[str]:
    """What was recorded of the build twice must be the same twice."""
    if made.sql_hash and text_hash(record.executed_sql) != made.sql_hash:
        yield "its SQL is not the one that was run (`sql_hash`)"
    if made.recipe_hash is not None and made.recipe_hash != record.recipe_hash:
        yield "its IR is not the one that was run (`recipe_hash`)"
    if made.input_hash is not None and made.input_hash != record.input_hash:
        yield "its inputs are not those of the execution (`input_hash`)"
    if made.rows_hash is not None and record.rows_hash not in (None, made.rows_hash):
        yield "its rows are not those of the execution (`rows_hash`)"


def _reads_below(reads: tuple[ReadRecord, ...]) -> Iterator[ReadRecord]:
    for read in reads:
        yield read
        yield from _reads_below(read.reads)
