"""The recorder: what building a step did, as the records the ledger keeps.

Artifacts are one row a file that was added; a file that stayed was recorded by the run that wrote
it. A step that failed carries no hashes: nothing was made from them.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime

from rocky.canonical import text_hash
from rocky.errors import StoreUnreadable
from rocky.ledger.record import RunId
from rocky.ledger.run_records import (
    ArtifactRecord,
    ModelExecution,
    ModelStatus,
    PartitionRecord,
    PartitionStatus,
)
from rocky.plan.budget import cost_of, record_metrics
from rocky.plan.steps import BUILT, HELD, SKIPPED, RunPlan, Step
from rocky.run.checks.outcomes import AssertionOutcome, stale_words
from rocky.run.engine.protocol import StepFailure
from rocky.run.materialize.build import Built
from rocky.run.materialize.seeds import UNCHANGED, seed_target
from rocky.run.outcomes import NO_NOTES, StepNotes, StepOutcome
from rocky.run.prepare.known_inputs import KnownInput, MadeFrom
from rocky.run.prepare.pins import PinnedTable
from rocky.run.record.commits import (
    NO_ADOPTED_COMMITS,
    AdoptedCommits,
    CommitAdopter,
    WatermarkRecords,
    added_files,
    commit_records,
)
from rocky.run.record.provenance import (
    NOT_MEASURED,
    NOTHING_USED,
    Proof,
    ProvenanceMaker,
    ResourcesUsed,
    StepRecord,
    StepResult,
    Timing,
)
from rocky.run.reuse.decisions import Decision
from rocky.store.data_file import DataFile
from rocky.store.delta.change import Committed
from rocky.store.delta.snapshot import ROWS_HASH
from rocky.store.warehouse import Table


class Recorder:
    """Turns what happened in one run into records."""

    def __init__(
        self,
        plan: RunPlan,
        run_id: RunId,
        prover: ProvenanceMaker,
        adopter: CommitAdopter,
        notes: Mapping[str, StepNotes] | None = None,
    ) -> None:
        self._notes = notes or {}
        self._watermarks = WatermarkRecords(plan, run_id)
        self._plan = plan
        self.run_id = run_id
        self._prover = prover
        self._adopter = adopter

    def built(
        self, step: Step, result: StepResult, timing: Timing, used: ResourcesUsed
    ) -> StepRecord:
        """A step that was built, also in part, or needed no building."""
        if result.decision is not None and result.decision.reused is not None:
            return self.reused(step, result, timing, used)
        built, pinned, failure = result.built, result.pinned, result.failure
        certain = failure is None and result.changed_source is None
        adopted = self._adopted(result, timing.finished_at)
        execution = self._execution(
            step,
            ModelStatus.SUCCESS if failure is None else ModelStatus.FAILED,
            timing,
            used,
            decision=BUILT,
            reason=result.reason,
            action=result.action,
            sql_hash=text_hash(result.sql) if result.sql else "",
            error=failure.message if failure is not None else None,
            failure_kind=failure.kind if failure is not None else None,
            **(_made_from(result.made_from, certain=certain) if failure is None else {}),
            **(_written(built, pinned) if built is not None else {}),
            adopted=adopted.commits,
            watermark=built.watermark if built is not None else None,
            env_hash=self._prover.env_hash,
            canonical=result.layout.canonical if result.layout is not None else None,
        )
        if built is None:
            return StepRecord(StepOutcome(step, execution))
        return StepRecord(
            StepOutcome(step, execution, built.watermark, built.partitions, (), built.finding),
            (*adopted.artifacts, *self._artifacts(step, result, adopted, timing.finished_at)),
            self._partitions(step, built, timing),
            self._watermarks.built(step, built, pinned, timing.finished_at),
            self._prover.prove(step, result, timing.finished_at),
            self._notes.get(step.key, NO_NOTES) if failure is None else NO_NOTES,
        )

    def failed(
        self,
        step: Step,
        failure: StepFailure,
        timing: Timing,
        used: ResourcesUsed,
        *,
        interrupted: bool,
        inputs: Sequence[KnownInput] = (),
        table: Table | None = None,
    ) -> StepRecord:
        """A step that failed, or was cancelled because the run was to stop.

        What it had committed before stays, and is recorded; so is what it was to read.
        """
        adopted = self._left_behind(table, timing.finished_at)
        execution = self._execution(
            step,
            ModelStatus.INTERRUPTED if interrupted else ModelStatus.FAILED,
            timing,
            used,
            decision=BUILT,
            reason="the run was interrupted" if interrupted else None,
            error=failure.message,
            failure_kind=failure.kind,
            inputs=tuple(each.record for each in inputs),
            adopted=adopted.commits,
        )
        named = StepNotes(self._notes.get(step.key, NO_NOTES).asset_key)
        mark = self._watermarks.left(step, table, timing.finished_at) if adopted.commits else None
        return StepRecord(
            StepOutcome(step, execution, finding=failure.finding),
            adopted.artifacts,
            watermark=mark,
            notes=named,
        )

    def _left_behind(self, table: Table | None, now: datetime) -> AdoptedCommits:
        if table is None:
            return NO_ADOPTED_COMMITS
        try:
            snapshot = table.snapshot()
            if snapshot is None:
                return NO_ADOPTED_COMMITS
            return self._adopter.adopt(table, snapshot.version + 1, now)
        except StoreUnreadable:
            # A log that cannot be read is why the step failed, and its error says so.
            return NO_ADOPTED_COMMITS

    def withheld(
        self, step: Step, blocked_by: Sequence[Step], now: datetime, *, by_tests: bool = False
    ) -> StepRecord:
        """A step whose inputs failed, or only their tests."""
        names = tuple(each.name for each in blocked_by)
        listed = ", ".join(f"`{name}`" for name in names)
        why = f"waits for {listed}, {'whose tests' if by_tests else 'which'} failed"
        return self._held_back(step, names, why, now)

    def withheld_by_sources(
        self, step: Step, stale: Sequence[AssertionOutcome], now: datetime
    ) -> StepRecord:
        """A step that reads, or waits for one that reads, sources that are not fresh."""
        said = "; ".join(f"source `{each.model}`, which is {stale_words(each)}" for each in stale)
        names = tuple(each.model for each in stale)
        record = self._held_back(step, names, f"waits for {said}", now)
        return replace(record, outcome=replace(record.outcome, is_stale=True))

    def _held_back(self, step: Step, names: tuple[str, ...], why: str, now: datetime) -> StepRecord:
        execution = self._execution(
            step,
            ModelStatus.SKIPPED,
            Timing(now, 0),
            ResourcesUsed(),
            decision=SKIPPED,
            reason=why,
        )
        return StepRecord(StepOutcome(step, execution, blocked_by=names))

    def left(self, step: Step, now: datetime, gave_up: str | None = None) -> StepRecord:
        """A step that an interrupted run never came to, or one that gave up after failures."""
        if gave_up is not None:
            failure = StepFailure("not_started", f"not started: {gave_up}")
            return self.failed(step, failure, Timing(now, 0), ResourcesUsed(), interrupted=False)
        execution = self._execution(
            step,
            ModelStatus.INTERRUPTED,
            Timing(now, 0),
            ResourcesUsed(),
            decision=SKIPPED,
            reason="the run was interrupted before it started",
        )
        return StepRecord(StepOutcome(step, execution))

    def reused(
        self, step: Step, result: StepResult, timing: Timing, used: ResourcesUsed = NOTHING_USED
    ) -> StepRecord:
        """A step that reused a recorded result; its files are this run's too."""
        decision, pinned, made_from = result.decision, result.pinned, result.made_from
        assert decision is not None
        assert pinned is not None
        reused = decision.reused
        assert reused is not None
        resumed = reused.basis == "resume"
        before, committed = reused.before, result.recommitted
        snapshot = pinned.snapshot
        below = snapshot.version + (committed is None)
        adopted = self._adopter.adopt(pinned.table, below, timing.finished_at)
        execution = self._execution(
            step,
            ModelStatus.SKIPPED if resumed else ModelStatus.REUSED,
            timing,
            # Only a comparison of columns takes Spark any work.
            used if reused.basis == "columns" else NOTHING_USED,
            decision=decision.verdict,
            reason=_taken_because(decision, committed),
            sql_hash=before.sql_hash if before is not None else "",
            env_hash=before.env_hash if before is not None else None,
            watermark=before.watermark if before is not None else None,
            **_made_from(made_from),
            reused_from=None if resumed else reused.run_id,
            reused_model=None if resumed else reused.model_name,
            reuse_basis=None if resumed else reused.basis,
            rows_hash=snapshot.configuration.get(ROWS_HASH),
            canonical=before.canonical if before is not None else None,
            files=len(snapshot.files),
            commit_version=snapshot.version,
            commits=commit_records([committed] if committed is not None else []),
            adopted=adopted.commits,
        )
        if resumed:
            return StepRecord(StepOutcome(step, execution), adopted.artifacts)
        artifacts = adopted.artifacts + tuple(
            self._artifact(step, pinned, file, snapshot.version, timing.finished_at)
            for file in snapshot.files
        )
        # Where it was committed again, the newest version that holds it is the one to look at.
        index = tuple(replace(each, commit_version=snapshot.version) for each in reused.index)
        notes = self._notes.get(step.key, NO_NOTES)
        proof = Proof(None, index)
        return StepRecord(StepOutcome(step, execution), artifacts, proof=proof, notes=notes)

    def idle(self, step: Step, now: datetime, held: str | None = None) -> StepRecord:
        """A step with nothing to do: a seed that is loaded, a query that no build reads.

        `held` is why its table stays as somebody has reverted it, if that is so.
        """
        is_seed = step.kind == "seed"
        idle = "its file is loaded" if is_seed else "nothing to store, no reader to be built"
        execution = self._execution(
            step,
            ModelStatus.SUCCESS if held is None else ModelStatus.SKIPPED,
            Timing(now, 0),
            ResourcesUsed(),
            decision=SKIPPED if held is None else HELD,
            reason=idle if held is None else held,
            action=UNCHANGED if is_seed and held is None else None,
        )
        return StepRecord(StepOutcome(step, execution))

    def _execution(
        self, step: Step, status: ModelStatus, timing: Timing, used: ResourcesUsed, **facts: object
    ) -> ModelExecution:
        target, strategy, tags = self._described(step)
        metrics = used.metrics
        known: dict[str, object] = {
            "target": target,
            "strategy": strategy,
            "tags": tags,
            "attempts": used.attempts,
            **_noted(self._notes.get(step.key, NO_NOTES), status),
            **facts,
        }
        if metrics != NOT_MEASURED:
            known["bytes_scanned"] = metrics.bytes_read
            known["metrics"] = record_metrics(metrics)
            known["cost_usd"] = cost_of(metrics, used.rate)
            known["cost_rate"] = used.rate
        return ModelExecution(
            step.name,
            status,
            timing.started_at,
            timing.finished_at,
            timing.duration_ms,
            **known,  # type: ignore[arg-type]
        )

    def _described(self, step: Step) -> tuple[str, str, dict[str, str]]:
        project = self._plan.project
        if step.kind == "seed":
            seed = project.seeds[step.key]
            return seed_target(seed, project.config).full_name, "seed", dict(seed.tags)
        model = project.models[step.key]
        return model.target.full_name, model.strategy.type, dict(model.tags)

    def _adopted(self, result: StepResult, now: datetime) -> AdoptedCommits:
        """What runs that died left in the table below this build's own commits."""
        if result.built is None or result.pinned is None:
            return NO_ADOPTED_COMMITS
        commits = result.built.commits
        current = result.pinned.snapshot.version
        below = commits[0].snapshot.version if commits else current + 1
        return self._adopter.adopt(result.pinned.table, below, now)

    def _artifacts(
        self, step: Step, result: StepResult, adopted: AdoptedCommits, now: datetime
    ) -> tuple[ArtifactRecord, ...]:
        """The files a build added, and those of its table that nobody has recorded yet."""
        built, pinned = result.built, result.pinned
        if built is None or pinned is None:
            return ()
        found = [
            (file, commit.snapshot.version)
            for commit in built.commits
            for file in added_files(pinned, commit)
        ]
        told = {file.address for file, _ in found} | {
            each.blake3_hash for each in adopted.artifacts
        }
        stayed = [file for file in pinned.snapshot.files if file.address not in told]
        version = pinned.snapshot.version
        found += [(file, version) for file in self._adopter.unrecorded(stayed)]
        return tuple(self._artifact(step, pinned, file, at, now) for file, at in found)

    def _artifact(
        self, step: Step, pinned: PinnedTable, file: DataFile, version: int, now: datetime
    ) -> ArtifactRecord:
        place = str(pinned.table.place_of(file))
        return ArtifactRecord(file.address, self.run_id, step.name, place, version, file.size, now)

    def _partitions(self, step: Step, built: Built, timing: Timing) -> tuple[PartitionRecord, ...]:
        return tuple(
            PartitionRecord(
                step.name,
                each.key,
                PartitionStatus.COMPUTED if each.error is None else PartitionStatus.FAILED,
                timing.finished_at,
                each.rows,
                timing.duration_ms,
                self.run_id,
                error=each.error,
            )
            for each in built.partitions
        )


def _noted(notes: StepNotes, status: ModelStatus) -> dict[str, object]:
    """What a pipeline adds to an execution. A copy that failed does not have what was listed."""
    # What one that failed has committed all the same came from there.
    found: dict[str, object] = {"drift": notes.drift, "copied_from": notes.copied_from}
    if status not in (ModelStatus.SUCCESS, ModelStatus.REUSED):
        return found
    return {**found, "source_marker": notes.marker, "source_columns": notes.columns}


def _made_from(made_from: MadeFrom | None, *, certain: bool = True) -> dict[str, object]:
    """What a step was made from; not `certain` when an input changed while it was read."""
    if made_from is None:
        return {}
    return {
        "recipe_hash": made_from.fingerprints.recipe,
        "skip_hash": made_from.fingerprints.skip_hash,
        "input_hash": made_from.input_hash if certain else None,
        "input_proof_class": made_from.proof if certain else None,
        "inputs": tuple(each.record for each in made_from.inputs),
    }


def _written(built: Built, pinned: PinnedTable | None) -> dict[str, object]:
    added = [file for commit in built.commits for file in commit.added]
    return {
        "rows_affected": built.rows,
        "rows_hash": built.rows_hash,
        "files": len(added),
        "bytes_written": sum(file.size for file in added),
        "commit_version": pinned.snapshot.version if pinned is not None else None,
        "commits": commit_records(built.commits),
    }


def _taken_because(decision: Decision, committed: Committed | None) -> str:
    """Why nothing was built; a table that had to be put back to what was recorded says so."""
    if committed is None or decision.reused is None:
        return decision.reason
    what = "described anew" if decision.reused.redescribed else "put back"
    return f"{decision.reason}, {what} as version {committed.snapshot.version}"
