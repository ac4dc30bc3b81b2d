"""Steps that fail before Spark starts: for an error, a pipeline's refusal, a source that is gone.

They are recorded like steps that failed later, and Spark does not start for them.
"""

from collections.abc import Mapping, Sequence

from rocky.diagnostics.diagnostic import placed_message
from rocky.plan.steps import RunPlan, Step
from rocky.run.engine.protocol import StepFailure
from rocky.run.engine.sources import Sources
from rocky.run.outcomes import NO_NOTES, StepNotes
from rocky.run.prepare.missing_sources import find_missing_sources
from rocky.run.prepare.resources import RunClock
from rocky.run.record.journal import Journal
from rocky.run.record.provenance import NOTHING_USED, StepRecord, Timing
from rocky.run.record.recorder import Recorder


def record_left_out_steps(
    plan: RunPlan, recorder: Recorder, journal: Journal, times: RunClock
) -> None:
    """Record what the plan goes on without: it failed before anything was read."""
    now = Timing(times.now(), 0)
    records: list[StepRecord] = []
    for each in plan.left_out:
        if each.finding is None:
            records.append(recorder.withheld(each.step, each.blocked_by, now.started_at))
        else:
            said = placed_message(each.finding, plan.project.texts)
            failure = StepFailure("compile_error", said, finding=each.finding)
            records.append(
                recorder.failed(each.step, failure, now, NOTHING_USED, interrupted=False)
            )
    journal.record_all(records)


def record_refused_steps(
    plan: RunPlan,
    notes: Mapping[str, StepNotes],
    recorder: Recorder,
    journal: Journal,
    times: RunClock,
) -> frozenset[str]:
    """Record the tables that a pipeline has found unfit before anything was read; their ids."""
    now = Timing(times.now(), 0)
    found = {
        step: StepFailure("refused", why)
        for step in plan.steps
        if (why := notes.get(step.key, NO_NOTES).refusal) is not None
    }
    journal.record_all(
        [
            recorder.failed(step, failure, now, NOTHING_USED, interrupted=False)
            for step, failure in found.items()
        ]
    )
    return frozenset(step.id for step in found)


def record_missing_sources(
    plan: RunPlan,
    steps: Sequence[Step],
    sources: Sources,
    recorder: Recorder,
    journal: Journal,
    times: RunClock,
) -> frozenset[str]:
    """Record steps that read a source that is not there, and those that wait for them; their ids.

    They fail before Spark starts, and it does not start for them.
    """
    missing = find_missing_sources(plan.project, steps, sources)
    now = Timing(times.now(), 0)
    failed: dict[str, tuple[Step, ...]] = {}
    records: list[StepRecord] = []
    for step in steps if missing else ():
        read = next((each.key for each in step.reads if each.key in missing), None)
        causes = {each.id: each for after in step.after for each in failed.get(after, ())}
        if causes:
            failed[step.id] = tuple(causes.values())
            records.append(recorder.withheld(step, failed[step.id], now.started_at))
        elif read is not None:
            failed[step.id] = (step,)
            finding = missing[read]
            said = placed_message(finding, plan.project.texts)
            failure = StepFailure("missing_source", said, finding=finding)
            records.append(recorder.failed(step, failure, now, NOTHING_USED, interrupted=False))
    journal.record_all(records)
    return frozenset(failed)
