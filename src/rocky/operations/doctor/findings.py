"""What is examined, a project as it was found, and what a check says of it.

A check that could not look is never healthy.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import NamedTuple

from rocky.errors import ProjectNotFound, RockyError
from rocky.project import Project


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


@dataclass(frozen=True, slots=True)
class Subject:
    """What is looked at. `project` is None when it could not be loaded, and `failure` says why.

    `start_spark` is True when Spark was asked for by name: starting it takes a while.
    """

    state_path: Path | None
    environment: Mapping[str, str]
    project: Project | None = None
    failure: RockyError | None = None
    start_spark: bool = False

    def require_project(self) -> Project:
        """The project. Raises what kept it from being loaded."""
        if self.project is not None:
            return self.project
        raise self.failure or ProjectNotFound("there is no project here")

    def require_state_path(self) -> Path:
        """Where the state file is, or would be. Raises ProjectNotFound."""
        if self.state_path is None:
            raise self.failure or ProjectNotFound("there is no project here, so no state file")
        return self.state_path
