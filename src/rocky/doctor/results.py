"""What a check of the doctor found. One that could not check is never healthy."""

from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple


class Health(StrEnum):
    """How it stands; from good to bad."""

    HEALTHY = "healthy"
    WARNING = "warning"
    CRITICAL = "critical"


class Diagnosis(NamedTuple):
    """What a check says: a sentence, and what to do about it unless all is well."""

    health: Health
    message: str
    fix: str | None = None


@dataclass(frozen=True, slots=True)
class CheckResult:
    """A check by name, what it says and how long it took."""

    name: str
    health: Health
    message: str
    fix: str | None
    duration_ms: int


def healthy(message: str) -> Diagnosis:
    return Diagnosis(Health.HEALTHY, message)


def warning(message: str, fix: str) -> Diagnosis:
    return Diagnosis(Health.WARNING, message, fix)


def critical(message: str, fix: str) -> Diagnosis:
    return Diagnosis(Health.CRITICAL, message, fix)


def worst(found: "list[Diagnosis]", well: str) -> Diagnosis:
    """One for several: the worst speaks, and says how many others are not well."""
    order = list(Health)
    unwell = sorted(
        (each for each in found if each.health is not Health.HEALTHY),
        key=lambda each: -order.index(each.health),
    )
    if not unwell:
        return healthy(well)
    first, more = unwell[0], len(unwell) - 1
    return first._replace(message=f"{first.message} (and {more} more)") if more else first
