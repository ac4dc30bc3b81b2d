"""History: what the ledger remembers of a plan's models, what changed since, and what to resume.

A model of an unfinished run is passed over only when nothing could be different: it succeeded in
the newest run over these models, it has the same recipe and inputs, it gives the same rows each
time, and its table is still at the version that run committed. Any doubt builds.

Whether a model gives the same rows is asked of its query and of those that stand for the tables it
reads: such a query is part of the SQL of whoever reads it, so what is uncertain about it is
uncertain about them. A table that was made by chance is not: its rows are what they are.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from threading import Lock
from typing import Final, Self

from rocky.language.ir import Recipe, is_deterministic
from rocky.ledger.provenance import InputIndexEntry
from rocky.ledger.readers.history import HistoryReader, RecordedExecution
from rocky.ledger.readers.lookup import LookupReader
from rocky.ledger.record import RunId
from rocky.ledger.run_records import ModelExecution, ModelStatus, RunRecord, RunStatus
from rocky.plan.steps import NEVER_BUILT, RESUMED, RunPlan, Step, reads_of
from rocky.project.configuration.strategies import Append, Microbatch, TimeInterval, is_inline
from rocky.project.python_imports import import_doubt
from rocky.run.prepare.known_inputs import MadeFrom
from rocky.store.delta.snapshot import Snapshot


def is_repeatable(plan: RunPlan, key: str) -> bool:
    """Whether equal inputs make an equal table: not where the clock or chance has a say."""
    return find_nondeterminism(plan, key) is None


def find_nondeterminism(plan: RunPlan, key: str) -> str | None:
    """Why a model may come out differently each time; None when it does not."""
    model = plan.project.models[key]
    if isinstance(model.strategy, TimeInterval | Microbatch):
        return "its intervals depend on the time"
    if isinstance(model.strategy, Append):
        return "it adds files that were not loaded before"
    skip = model.settings.skip
    if skip is not None and skip.eligible is False:
        return "its settings say that it is not to be skipped"
    for each, reasons in _determinism(plan, key):
        through = "" if each == key else f", through `{plan.project.models[each].name}`"
        said = plan.project.models[each].settings.skip
        if said is not None and said.deterministic is False:
            return f"not deterministic (its settings say so{through})"
        if not is_deterministic(reasons):
            first = next(reason for reason in reasons if not reason.startswith("float:"))
            return f"not deterministic ({first}{through})"
    return import_doubt(model)


def _determinism(plan: RunPlan, key: str) -> Iterator[tuple[str, tuple[str, ...]]]:
    """A model and the queries it reads, each with the reasons against it."""
    models = plan.project.models
    waiting, seen = [key], {key}
    while waiting:
        each = waiting.pop()
        yield each, plan.compilation.models.record(each).determinism
        for read in reads_of(plan.compilation, models[each]):
            if read.kind == "model" and read.key not in seen:
                seen.add(read.key)
                if is_inline(models[read.key].strategy):
                    waiting.append(read.key)


@dataclass(frozen=True, slots=True)
class BuildHistory:
    """What the ledger remembers of the steps of a plan. Threads may share it.

    `lookups` is None where there is no ledger yet.
    """

    lookups: LookupReader | None = None
    last: Mapping[str, RecordedExecution] = field(default_factory=dict)
    _lock: Lock = field(default_factory=Lock, repr=False)

    @classmethod
    def of(cls, plan: RunPlan, lookups: LookupReader) -> Self:
        names = [step.name for step in plan.steps if step.kind == "build"]
        return cls(lookups, lookups.last_executions(names))

    def entries(self, hashes: Sequence[str]) -> dict[str, InputIndexEntry]:
        """The indexed results of some input hashes."""
        if self.lookups is None:
            return {}
        with self._lock:
            found = self.lookups.index_entries(hashes)
        return {key: each for key, each in found.items() if each.input_hash == key}

    def is_untouched(self, found: InputIndexEntry) -> bool:
        """Whether an indexed result is as Rocky recorded it."""
        if self.lookups is None:
            return False
        with self._lock:
            return self.lookups.is_untouched("input_index", found.input_hash)

    def erasure_of(self, target: str, file: str) -> RunId | None:
        """The run whose certificate says that a file of a table is gone, if one does."""
        if self.lookups is None:
            return None
        with self._lock:
            certificates = self.lookups.certificates()
        for certificate in reversed(certificates):
            for table in certificate.tables:
                if table.target.lower() == target.lower() and any(
                    file.startswith(each.blake3_hash) for each in table.files
                ):
                    return certificate.run_id
        return None

    def environment_of(self, found: InputIndexEntry) -> str | None:
        """The environment that an indexed result was made in, as it is recorded."""
        if self.lookups is None:
            return None
        with self._lock:
            record = self.lookups.provenance(found.run_id, found.model_name)
        if record is None or record.env_hash != found.env_hash:
            return None
        return record.env_canonical_json

    def inputs_of(self, last: RecordedExecution | None) -> Mapping[str, str | None]:
        """What an execution read, by lower-case name, each with its identity.

        A table that arrived, on a branch or by a promotion, read nothing there: what it is made of
        is in the provenance that came along.
        """
        if last is None:
            return {}
        if last.execution.inputs or self.lookups is None:
            return {each.name.lower(): each.identity for each in last.execution.inputs}
        with self._lock:
            record = self.lookups.provenance(last.run_id, last.execution.model_name)
        reads = record.reads if record is not None else ()
        return {each.name.lower(): each.identity for each in reads}

    def build_of(self, found: InputIndexEntry) -> ModelExecution | None:
        """The execution that made an indexed result, or one that took it over since."""
        last = self.last.get(found.model_name)
        if last is not None and found.run_id in (last.run_id, last.execution.reused_from):
            return last.execution
        if self.lookups is None:
            return None
        with self._lock:
            recorded = self.lookups.execution(found.run_id, found.model_name)
        return recorded.execution if recorded is not None else None


_GOOD = frozenset({ModelStatus.SUCCESS, ModelStatus.REUSED})


GENERATED: Final = "source:"
"""What the name of a pipeline's source begins with, so that no model can be called so."""


def describe_change(
    last: RecordedExecution | None, made_from: MadeFrom, before: Mapping[str, str | None]
) -> str:
    """Why no recorded result fits what a model is made from now; `before` are its inputs then."""
    if last is None:
        return NEVER_BUILT
    execution = last.execution
    if execution.status not in _GOOD and execution.skip_hash is None:
        return f"`{last.run_id}` did not build it"
    if execution.skip_hash != made_from.fingerprints.skip_hash:
        return "its logic or settings changed"
    changed = [
        each.name
        for each in made_from.inputs
        if before.get(each.name.lower()) != each.record.identity
    ]
    if changed:
        more = f" and {len(changed) - 1} more" if len(changed) > 1 else ""
        return f"`{changed[0].removeprefix(GENERATED)}` changed{more}"
    return "no earlier build can be reused"


_UNFINISHED: Final = frozenset(
    {RunStatus.INTERRUPTED, RunStatus.FAILURE, RunStatus.PARTIAL_FAILURE}
)


@dataclass(frozen=True, slots=True)
class Resumption:
    """What may be taken over: executions by model key, and the run they come from."""

    run_id: RunId | None = None
    executions: dict[str, ModelExecution] = field(default_factory=dict)

    def built_already(
        self, step: Step, recipe: Recipe, input_hash: str | None, snapshot: Snapshot | None
    ) -> ModelExecution | None:
        """The execution that stands for building the step now; None when it must be built."""
        before = self.executions.get(step.key)
        if (
            before is None
            or snapshot is None
            or input_hash is None
            or before.input_hash != input_hash
            or before.recipe_hash != recipe
            or before.commit_version != snapshot.version
        ):
            return None
        return before

    def reason_of(self, before: ModelExecution) -> str:
        """Why a model is skipped; the run that built it may be older than the one resumed."""
        if before.decision == RESUMED and before.reason is not None:
            return before.reason
        return f"built by {self.run_id}"


def find_resumption(plan: RunPlan, reader: HistoryReader | None) -> Resumption:
    """What the newest run over the plan's models left, if it did not end well."""
    if reader is None:
        return Resumption()
    previous = _previous_run(plan.selected, reader)
    if previous is None or previous.status not in _UNFINISHED:
        return Resumption()
    wanted = {
        step.key for step in plan.steps if step.kind == "build" and is_repeatable(plan, step.key)
    }
    done = {
        each.model_name.lower(): each
        for each in previous.models_executed
        if each.model_name.lower() in wanted and _counts(each)
    }
    return Resumption(previous.run_id, done)


def _previous_run(steps: Sequence[Step], reader: HistoryReader) -> RunRecord | None:
    # Ids sort as the runs began.
    last = (reader.last_execution(step.name) for step in steps)
    newest = max((each.run_id for each in last if each is not None), default=None)
    return reader.run(newest) if newest is not None else None


def _counts(execution: ModelExecution) -> bool:
    if execution.status is ModelStatus.SKIPPED:
        return execution.decision == RESUMED
    return execution.status in (ModelStatus.SUCCESS, ModelStatus.REUSED)
