"""The examination: the checks, by name and in the order in which they are made."""

from collections.abc import Callable, Iterable, Mapping
from time import monotonic
from typing import Final

from rocky.diagnostics.suggestion import suggestion
from rocky.errors import NothingSelected, RockyError
from rocky.operations.doctor.checks import (
    check_adapters,
    check_config,
    check_java,
    check_pipelines,
    check_spark,
    check_state,
    check_state_rw,
    check_state_schema,
    check_state_sync,
)
from rocky.operations.doctor.findings import CheckResult, Diagnosis, Health, Subject, critical

Check = Callable[[Subject], Diagnosis]

CHECKS: Final[Mapping[str, Check]] = {
    "config": check_config,
    "state": check_state,
    "state_schema": check_state_schema,
    "state_sync": check_state_sync,
    "state_rw": check_state_rw,
    "adapters": check_adapters,
    "pipelines": check_pipelines,
    "java": check_java,
    "spark": check_spark,
}


def examine(patient: Subject, names: Iterable[str] = ()) -> tuple[CheckResult, ...]:
    """What the checks of these names say, or all of them. Raises NothingSelected."""
    wanted = refuse_unknown(names)
    return tuple(_make(name, check, patient) for name, check in CHECKS.items() if name in wanted)


def refuse_unknown(names: Iterable[str]) -> frozenset[str]:
    """The checks that are meant: all when none is named. Raises NothingSelected."""
    wanted = frozenset(names) or frozenset(CHECKS)
    for name in sorted(wanted - CHECKS.keys()):
        listed = ", ".join(f"`{each}`" for each in CHECKS)
        raise NothingSelected(
            f"no check `{name}`; {suggestion(name, CHECKS) or f'there are {listed}'}"
        )
    return wanted


def is_critical(results: Iterable[CheckResult]) -> bool:
    return any(each.health is Health.CRITICAL for each in results)


def _make(name: str, check: Check, patient: Subject) -> CheckResult:
    begun = monotonic()
    try:
        found = check(patient)
    except (RockyError, OSError) as failure:
        found = critical(f"could not check: {failure}", "put that right, then ask again")
    return CheckResult(
        name, found.health, found.message, found.fix, int((monotonic() - begun) * 1000)
    )
