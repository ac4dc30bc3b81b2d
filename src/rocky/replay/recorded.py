"""What the ledger says of a run: each model with the record of the build that made its table.

A model that a run took over from another was made by that one, and so it is that record which tells
how. Nothing here needs the project, its tables or Spark.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from rocky.diagnostics.suggest import suggestion
from rocky.errors import NothingSelected
from rocky.ledger import LATEST, RecordedExecution, open_lookups, open_reader
from rocky.ledger.lookups import Lookups
from rocky.ledger.provenance import ProvenanceRecord
from rocky.ledger.reader import Reader
from rocky.ledger.record import RunId
from rocky.ledger.records import ArtifactRecord, ModelExecution, ModelStatus, RunRecord
from rocky.ledger.rows import key_of
from rocky.run.resume import RESUMED

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


def load_recorded(state: Path, run_id: str, models: Sequence[str] = ()) -> RecordedRun:
    """A run by its id or the `latest`, all its models or those named. Raises NothingSelected."""
    reader = open_reader(state)
    if reader is None:
        raise NothingSelected("no run is recorded yet; `rocky run` makes the first")
    with reader:
        run = reader.run(run_id)
        if run is None:
            known = [each.run_id for each in reader.runs(limit=50)]
            hint = suggestion(run_id, [*known, LATEST]) or "`rocky history` lists them"
            raise NothingSelected(f"no run `{run_id}`; {hint}")
        executions = _chosen(run, models)
        lookups = open_lookups(state)
        assert lookups is not None
        with lookups:
            history = _History(run.run_id, reader, lookups)
            found = [history.model(each) for each in executions]
    return RecordedRun(run, tuple(found))


def _chosen(run: RunRecord, models: Sequence[str]) -> tuple[ModelExecution, ...]:
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

    def __init__(self, run_id: RunId, reader: Reader, lookups: Lookups) -> None:
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
