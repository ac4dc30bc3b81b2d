"""What the doctor found, as text for people and as a JSON document."""

from collections import Counter
from collections.abc import Sequence
from typing import Any

from rocky.cli.render.tables import render_table
from rocky.cli.render.units import format_duration
from rocky.operations.doctor.findings import CheckResult, Health


def render_examination(results: Sequence[CheckResult]) -> str:
    """A row a check, what to do about those that are not well, and a last line."""
    rows = [
        (each.name, each.health.value, format_duration(each.duration_ms), each.message)
        for each in results
    ]
    lines = [render_table(("CHECK", "HEALTH", "TIME", "FOUND"), rows, right={2})]
    fixes = [f"  {each.name}: {each.fix}" for each in results if each.fix is not None]
    if fixes:
        lines += ["", "what to do:", *fixes]
    return "\n".join([*lines, "", _summary(results)])


def examination_document(results: Sequence[CheckResult]) -> dict[str, Any]:
    """What `rocky doctor -o json` prints."""
    counted = Counter(each.health for each in results)
    return {
        "health": _overall(results).value,
        "checks": [_check_document(each) for each in results],
        "summary": {health.value: counted[health] for health in Health},
    }


def _check_document(result: CheckResult) -> dict[str, Any]:
    document: dict[str, Any] = {
        "name": result.name,
        "health": result.health.value,
        "message": result.message,
        "duration_ms": result.duration_ms,
    }
    return document if result.fix is None else {**document, "fix": result.fix}


def _overall(results: Sequence[CheckResult]) -> Health:
    found = {each.health for each in results}
    return next((each for each in reversed(Health) if each in found), Health.HEALTHY)


def _summary(results: Sequence[CheckResult]) -> str:
    counted = Counter(each.health for each in results)
    return ", ".join(f"{counted[each]} {each.value}" for each in Health if counted[each])
