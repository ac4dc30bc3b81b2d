"""Provenance: the result of a step, and what is recorded so that it can be checked and reused.

A build is indexed, and so may stand for a later one, only when nothing is in doubt: it succeeded,
every input was identified by content, and the model gives the same rows each time.
"""

from dataclasses import asdict, dataclass, replace
from datetime import datetime, timedelta
from typing import Final

from rocky.canonical import ascii_json
from rocky.compiler.fingerprints import ir_text_of
from rocky.ledger.provenance import InputIndexEntry, LayoutRecord, ProvenanceRecord
from rocky.ledger.record import RunId
from rocky.ledger.run_records import (
    ArtifactRecord,
    AttemptRecord,
    CostRate,
    PartitionRecord,
    WatermarkState,
)
from rocky.plan.request import NO_WINDOW, Window
from rocky.plan.steps import CHANGED, NEEDED, TOLD, UNREAD, RunPlan, Step
from rocky.project.configuration.strategies import replaces_all
from rocky.run.engine.protocol import StepFailure
from rocky.run.materialize.build import Built
from rocky.run.outcomes import NO_NOTES, StepNotes, StepOutcome
from rocky.run.prepare.environment import Environment
from rocky.run.prepare.inputs import Inputs
from rocky.run.prepare.known_inputs import MadeFrom
from rocky.run.prepare.pins import PinnedTable
from rocky.run.prepare.resources import RunContext
from rocky.run.reuse.decisions import Decision
from rocky.run.reuse.history import is_repeatable
from rocky.spark.interface import Layout, Metrics
from rocky.store.delta.change import Committed
from rocky.store.delta.snapshot import ROWS_HASH


@dataclass(frozen=True, slots=True)
class StepResult:
    """What building a step did. `built` is None for inline steps and where `decision` took over.

    `made_from` is None for a seed, which is made from a file. `pinned` is None where there is no
    table, also when every interval of a new one failed. `changed_source` is one whose files are no
    longer those that were pinned: then nobody can say what was read. `recommitted` is the commit
    that made an earlier version the table's content again. `registration` is what became of a view
    in Spark's catalogue, where that is told of views; `is_read` whether a step of the run reads it.
    """

    made_from: MadeFrom | None
    sql: str = ""
    built: Built | None = None
    layout: Layout | None = None
    pinned: PinnedTable | None = None
    decision: Decision | None = None
    recommitted: Committed | None = None
    changed_source: str | None = None
    registration: str | None = None
    is_read: bool = True

    @property
    def reason(self) -> str | None:
        """Why the step was taken."""
        if self.decision is not None:
            return self.decision.reason
        if self.registration is not None:
            return TOLD
        if self.built is not None:
            return None
        return NEEDED if self.is_read else UNREAD

    @property
    def action(self) -> str:
        """What was done, and what did not go well beside its commits."""
        if self.built is None:
            bound = "bound for its readers" if self.is_read else "bound"
            return "; ".join(filter(None, (bound, self.registration)))
        said = [each for commit in self.built.commits for each in commit.warnings]
        if self.changed_source is not None:
            said.append(f"source `{self.changed_source}` {CHANGED}")
        return "; ".join([self.built.action, *said])

    @property
    def failure(self) -> StepFailure | None:
        """Intervals that failed beside others that did not: what was built stays."""
        partitions = self.built.partitions if self.built is not None else ()
        failed = [each for each in partitions if each.error is not None]
        if not failed:
            return None
        many = f"{len(failed)} of {len(partitions)} intervals failed; the first"
        said = f"{many}, `{failed[0].key}`: {failed[0].error}"
        finding = self.built.finding if self.built is not None else None
        return StepFailure("interval_failed", said, finding=finding)


@dataclass(frozen=True, slots=True)
class Proof:
    """What is recorded beside an execution."""

    provenance: ProvenanceRecord | None = None
    index: tuple[InputIndexEntry, ...] = ()


NO_PROOF: Final = Proof()


class ProvenanceMaker:
    """Makes the proofs of one run."""

    def __init__(
        self, plan: RunPlan, context: RunContext, inputs: Inputs, environment: Environment
    ) -> None:
        self._plan = plan
        self._context = context
        self._inputs = inputs
        self._environment = environment

    @property
    def env_hash(self) -> str:
        return self._environment.hash

    def prove(self, step: Step, result: StepResult, now: datetime) -> Proof:
        """The proof of a build that succeeded; an inline step or a seed has none."""
        if result.made_from is None or result.built is None or result.pinned is None:
            return NO_PROOF
        provenance = self._provenance(step, result, result.pinned, now)
        if (
            result.failure is not None
            or provenance.proof_class not in ("strong", "stat")
            or not is_repeatable(self._plan, step.key)
        ):
            return Proof(provenance)
        # The same hash where nothing that is read has a hash of its rows.
        found = {provenance.cutoff_hash: "rows", provenance.input_hash: "content"}
        return Proof(
            provenance,
            tuple(
                _index_entry(provenance, basis, hashed)
                for hashed, basis in found.items()
                if hashed is not None
            ),
        )

    def _provenance(
        self, step: Step, result: StepResult, pinned: PinnedTable, now: datetime
    ) -> ProvenanceRecord:
        made_from, context = result.made_from, self._context
        assert made_from is not None
        model = self._plan.project.models[step.key]
        certain = result.changed_source is None and result.failure is None
        snapshot = pinned.snapshot
        inputs = made_from.inputs
        return ProvenanceRecord(
            run_id=context.run_id,
            model_name=step.name,
            target=model.target.full_name,
            recipe_hash=made_from.fingerprints.recipe,
            skip_hash=made_from.fingerprints.skip_hash,
            model_ir_canonical_json=ir_text_of(self._plan.compilation, step.key),
            executed_sql=result.sql,
            now=context.now,
            recorded_at=now,
            input_hash=made_from.input_hash if certain else None,
            cutoff_hash=made_from.cutoff_hash if certain else None,
            proof_class=made_from.proof if certain else None,
            env_hash=self._environment.hash,
            env_canonical_json=self._environment.json,
            upstreams=made_from.upstreams if certain else (),
            cutoff_upstreams=made_from.cutoff_upstreams if certain else (),
            output_blake3=tuple(file.address for file in snapshot.files),
            output_path=tuple(str(pinned.table.place_of(file)) for file in snapshot.files),
            output_version=snapshot.version,
            base_version=None if replaces_all(model.strategy) else _base_version(result),
            rows_hash=snapshot.configuration.get(ROWS_HASH),
            layout=_layout(result.layout),
            full_refresh=context.refreshes(step.key),
            window=_window(context.window_of(step.key)),
            parameters=self._inputs.parameters_of(model, inputs) if model.is_python else {},
            reads=tuple(map(self._inputs.again, inputs)),
        )


def _base_version(result: StepResult) -> int | None:
    """The version of the table that a build found; None where there was none."""
    assert result.built is not None
    assert result.pinned is not None
    if not result.built.commits:
        return result.pinned.snapshot.version
    first = result.built.commits[0].snapshot.version
    return first - 1 if first > 0 else None


def _index_entry(provenance: ProvenanceRecord, basis: str, hashed: str) -> InputIndexEntry:
    assert provenance.output_version is not None
    assert provenance.env_hash is not None
    assert provenance.proof_class is not None
    return InputIndexEntry(
        input_hash=hashed,
        basis=basis,
        run_id=RunId(provenance.run_id),
        model_name=provenance.model_name,
        target=provenance.target,
        commit_version=provenance.output_version,
        proof_class=provenance.proof_class,
        env_hash=provenance.env_hash,
        recorded_at=provenance.recorded_at,
        output_blake3=provenance.output_blake3,
        output_path=provenance.output_path,
    )


def _layout(layout: Layout | None) -> LayoutRecord | None:
    if layout is None:
        return None
    return LayoutRecord(
        layout.canonical,
        layout.pieces,
        layout.partition_columns,
        layout.cluster_by,
        layout.max_rows_per_file,
        layout.by_files or None,
        layout.by_key or None,
    )


def _window(window: Window) -> str | None:
    """Which time intervals were asked for, as JSON; None for none in particular."""
    # What was computed before matters only to know what is missing.
    asked = window if window.missing else replace(window, recorded=frozenset())
    if asked == NO_WINDOW:
        return None
    unset = asdict(NO_WINDOW)
    values = {name: value for name, value in asdict(asked).items() if value != unset[name]}
    return ascii_json(values, default=sorted)


NOT_MEASURED: Final = Metrics()


@dataclass(frozen=True, slots=True)
class StepRecord:
    """All that one transaction of the ledger says of a step."""

    outcome: StepOutcome
    artifacts: tuple[ArtifactRecord, ...] = ()
    partitions: tuple[PartitionRecord, ...] = ()
    watermark: WatermarkState | None = None
    proof: Proof = NO_PROOF
    notes: StepNotes = NO_NOTES


@dataclass(frozen=True, slots=True)
class Timing:
    """When a step began and how long it took."""

    started_at: datetime
    duration_ms: int

    @property
    def finished_at(self) -> datetime:
        return self.started_at + timedelta(milliseconds=self.duration_ms)


@dataclass(frozen=True, slots=True)
class ResourcesUsed:
    """What a step took: attempts, Spark's metrics, and the rates they are priced at."""

    attempts: tuple[AttemptRecord, ...] = ()
    metrics: Metrics = NOT_MEASURED
    rate: CostRate | None = None


NOTHING_USED: Final = ResourcesUsed()
