"""Examining: the checks, by name and in the order in which they are made.

A check that breaks off is critical: what could not be checked is not known to be well.
"""

from collections.abc import Callable, Iterable, Mapping
from time import monotonic
from typing import Final

from rocky.diagnostics.suggest import suggestion
from rocky.doctor.patient import Patient
from rocky.doctor.project_checks import check_adapters, check_config, check_pipelines
from rocky.doctor.results import CheckResult, Diagnosis, Health, critical
from rocky.doctor.spark_checks import check_java, check_spark
from rocky.doctor.state_checks import (
    check_state,
    check_state_rw,
    check_state_schema,
    check_state_sync,
)
from rocky.errors import NothingSelected, RockyError

Check = Callable[[Patient], Diagnosis]

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


def examine(patient: Patient, names: Iterable[str] = ()) -> tuple[CheckResult, ...]:
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


def _make(name: str, check: Check, patient: Patient) -> CheckResult:
    begun = monotonic()
    try:
        found = check(patient)
    except (RockyError, OSError) as failure:
        found = critical(f"could not check: {failure}", "put that right, then ask again")
    return CheckResult(
        name, found.health, found.message, found.fix, int((monotonic() - begun) * 1000)
    )
