"""The patient: a project as it was found, or why it was not, and what surrounds it."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from rocky.errors import ProjectNotFound, RockyError
from rocky.project import Project


@dataclass(frozen=True, slots=True)
class Patient:
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
