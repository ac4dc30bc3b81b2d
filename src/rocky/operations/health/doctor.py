"""Whether a project can run here, said before anything runs.

A project that cannot be loaded is what it is for, so that is a finding and no failure.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from time import monotonic
from typing import Final

from rocky.diagnostics.suggestion import suggestion
from rocky.errors import NothingSelected, ProjectNotFound, RockyError
from rocky.operations.digest import Digested
from rocky.operations.health.governance_checks import check_governance
from rocky.operations.health.health_checks import (
    Diagnosis,
    Health,
    Subject,
    check_adapters,
    check_cache,
    check_config,
    check_pipelines,
    check_state,
    check_state_rw,
    check_state_schema,
    check_state_sync,
    critical,
)
from rocky.operations.health.source_checks import check_sources
from rocky.operations.health.spark_checks import check_java, check_spark
from rocky.operations.workspace import Workspace, known_branch, load_workspace, state_path
from rocky.plan.arguments import Request

Check = Callable[[Subject], Diagnosis]

CHECKS: Final[Mapping[str, Check]] = {
    "config": check_config,
    "state": check_state,
    "state_schema": check_state_schema,
    "state_sync": check_state_sync,
    "state_rw": check_state_rw,
    "adapters": check_adapters,
    "pipelines": check_pipelines,
    "sources": check_sources,
    "governance": check_governance,
    "cache": check_cache,
    "java": check_java,
    "spark": check_spark,
}
"""The checks by name, in the order in which they are made."""


_UNCHECKED: Final = "could not check: "


@dataclass(frozen=True, slots=True)
class DoctorRequest(Request):
    """The checks to make, by name; all without any. `spark` by name also starts Spark."""

    checks: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class CheckResult:
    """A check by name, what it says, how long it took, and what to do unless all is well."""

    name: str
    health: Health
    message: str
    duration_ms: int
    fix: str | None = None
    details: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class HealthCounts:
    """How many checks say what."""

    healthy: int
    warning: int
    critical: int


@dataclass(frozen=True, slots=True, repr=False)
class DoctorReport(Digested):
    """The health of a project: that of its worst check."""

    health: Health
    checks: tuple[CheckResult, ...]
    summary: HealthCounts


def doctor(workspace: Workspace, request: DoctorRequest) -> DoctorReport:
    """What the checks say. Raises NothingSelected for a check that is not there."""
    wanted = _refuse_unknown(request.checks)
    workspace = known_branch(workspace)
    subject = _find_subject(workspace, start_spark="spark" in request.checks)
    return examine(subject, wanted)


def examine(subject: Subject, names: Iterable[str]) -> DoctorReport:
    """What the checks of these names say of a project as it was found."""
    wanted = frozenset(names)
    results = _told_once(
        [_make(name, check, subject) for name, check in CHECKS.items() if name in wanted]
    )
    counts = Counter(each.health for each in results)
    worst = next((each for each in reversed(Health) if counts[each]), Health.HEALTHY)
    summary = HealthCounts(**{each.value: counts[each] for each in Health})
    return DoctorReport(worst, tuple(results), summary)


def _told_once(results: list[CheckResult]) -> list[CheckResult]:
    """Without what the first check has said already: that there is no project to look at."""
    is_missing = bool(results) and results[0].name == "config"
    if not is_missing or not results[0].message.startswith(_UNCHECKED):
        return results
    said = results[0].message
    return [results[0], *(each for each in results[1:] if each.message != said)]


def _refuse_unknown(names: Iterable[str]) -> frozenset[str]:
    """The checks that are meant: all when none is named. Raises NothingSelected."""
    wanted = frozenset(names) or frozenset(CHECKS)
    for name in sorted(wanted - CHECKS.keys()):
        listed = ", ".join(f"`{each}`" for each in CHECKS)
        raise NothingSelected(
            f"no check `{name}`; {suggestion(name, CHECKS) or f'there are {listed}'}"
        )
    return wanted


def _find_subject(workspace: Workspace, *, start_spark: bool) -> Subject:
    """The project, or why there is none."""
    environment = workspace.environment
    path = _find_state_path(workspace)
    try:
        project = load_workspace(workspace, cache=False)
    except RockyError as failure:
        return Subject(path, environment, failure=failure, start_spark=start_spark)
    return Subject(path, environment, project, start_spark=start_spark)


def _find_state_path(workspace: Workspace) -> Path | None:
    try:
        return state_path(workspace)
    except ProjectNotFound:
        return None


def _make(name: str, check: Check, subject: Subject) -> CheckResult:
    begun = monotonic()
    try:
        found = check(subject)
    except (RockyError, OSError) as failure:
        found = critical(f"{_UNCHECKED}{failure}", "fix that, then try again")
    took_ms = int((monotonic() - begun) * 1000)
    return CheckResult(name, found.health, found.message, took_ms, found.fix, found.details)
