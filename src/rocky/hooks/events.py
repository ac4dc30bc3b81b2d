"""Events: what happened in a run, as the JSON that hooks get.

The form is versioned: keys are added and never change their meaning. It holds facts of the run's
record only: no rows, no settings.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, Final
from uuid import uuid4

from rocky.ledger.record import Record
from rocky.ledger.run_records import ModelStatus, RunStatus
from rocky.run.outcomes import RunResult, StepOutcome

VERSION: Final = 1
_ENDED_BADLY: Final = frozenset({ModelStatus.FAILED, ModelStatus.INTERRUPTED})


@dataclass(frozen=True, slots=True)
class RunFacts:
    """What every event says of its run."""

    project: str
    pipeline: str | None = None
    branch: str | None = None
    triggering_identity: str | None = None
    git_commit: str | None = None


@dataclass(frozen=True, slots=True)
class Event:
    """Something that happened: `title` in a sentence, `details` as JSON."""

    name: str
    title: str
    facts: RunFacts
    run_id: str | None = None
    status: str | None = None
    details: Mapping[str, Any] = field(default_factory=dict)
    is_test: bool = False

    def document(self, now: datetime | None = None) -> dict[str, Any]:
        """What is sent: nothing that is not known is in it."""
        facts = self.facts
        found = {
            "version": VERSION,
            "event": self.name,
            "delivery": str(uuid4()),
            "at": (now or datetime.now(UTC)).isoformat(timespec="milliseconds"),
            "title": self.title,
            "project": facts.project,
            "pipeline": facts.pipeline,
            "branch": facts.branch,
            "run_id": self.run_id,
            "status": self.status,
            "triggering_identity": facts.triggering_identity,
            "git_commit": facts.git_commit,
            "test": True if self.is_test else None,
            **self.details,
        }
        return {key: value for key, value in found.items() if value is not None}


def start_event(run_id: str, models: Sequence[str], facts: RunFacts) -> Event:
    title = f"run {run_id} of {facts.project} begins"
    return Event("on_run_start", title, facts, run_id, details={"models": list(models)})


def failed_model_event(run_id: str, outcome: StepOutcome, facts: RunFacts) -> Event:
    execution = outcome.execution
    model = {
        "model": outcome.step.name,
        "error": execution.error,
        "failure_kind": execution.failure_kind,
    }
    title = f"model {outcome.step.name} of {facts.project} failed: {execution.error}"
    return Event("on_model_failure", title, facts, run_id, details={"models": [model]})


def end_events(result: RunResult, facts: RunFacts) -> Iterator[Event]:
    """What is to be told of a run that has ended."""
    run_id, status = result.run_id, result.status.value
    good = result.status is RunStatus.SUCCESS and result.exit_code == 0
    failed = [
        {"model": each.step.name, "error": each.execution.error}
        for each in result.outcomes
        if each.execution.status in _ENDED_BADLY
    ]
    seconds = (result.finished_at - result.started_at).total_seconds()
    details = {"duration_seconds": round(seconds, 1), "failed": failed or None}
    how = "succeeded" if good else f"ended with {status}"
    title = f"run {run_id} of {facts.project} {how} after {seconds:.0f} s"
    name = "on_run_success" if good else "on_run_failure"
    yield Event(name, title, facts, run_id, status, details)

    found = {
        "on_check_failure": ("checks", "checks failed", _failed_checks(result)),
        "on_anomaly": ("anomalies", "unusual row counts", _records(result.anomalies)),
        "on_budget": ("breaches", "over budget", _records(result.budget.breaches)),
        "on_drift": ("drift", "columns drifted", _drift(result)),
    }
    for event, (key, what, records) in found.items():
        if records:
            names = sorted(
                {str(each.get("table") or each.get("model_name") or "the run") for each in records}
            )
            title = f"run {run_id} of {facts.project}: {what}: {', '.join(names)}"
            yield Event(event, title, facts, run_id, status, {key: records})


def _records(found: Sequence[Record]) -> list[dict[str, Any]]:
    return [each.to_json() for each in found]


def _failed_checks(result: RunResult) -> list[dict[str, Any]]:
    """Of a pipeline's checks, and of models' tests if they were asked for."""
    found = [each.to_json() for each in result.check_outcomes if not each.passed]
    if result.tests is not None:
        units, assertions = result.tests.units, result.tests.assertions
        failed = [(each.model, each.name) for each in units if not each.passed]
        failed += [(each.model, each.name) for each in assertions if not each.passed]
        found += [{"table": model, "name": name} for model, name in failed]
    return found


def _drift(result: RunResult) -> list[dict[str, Any]]:
    return [
        {"table": each.step.name, **record.to_json()}
        for each in result.outcomes
        for record in each.execution.drift
    ]
