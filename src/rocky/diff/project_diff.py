"""What comparing two compilations came to. Values only."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from rocky.changes.change import Change, Impact

Status = Literal["added", "removed", "modified", "renamed", "affected"]
"""`affected`: none of the model's own files changed, but its columns, or what reaches them, did."""


@dataclass(frozen=True, slots=True)
class TableDiff:
    """What became of one model, source or seed that is not as it was.

    `name`, `path` and `target` are those of the head, of a removed one those of the base;
    `base_name`, `base_path` and `base_target` say what they were where that differs.
    `affected_by` names the tables whose changes reach an `affected` one.
    """

    name: str
    kind: Literal["model", "source", "seed"]
    status: Status
    path: str | None = None
    target: str | None = None
    base_name: str | None = None
    base_path: str | None = None
    base_target: str | None = None
    changes: tuple[Change, ...] = ()
    affected_by: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ProjectDiff:
    """All that differs. `settings` are changes of `rocky.toml` that are of no single table."""

    tables: tuple[TableDiff, ...] = ()
    settings: tuple[Change, ...] = ()
    total_models: int = 0
    unchanged: int = 0

    @property
    def changes(self) -> Iterator[tuple[TableDiff | None, Change]]:
        """Every change with its table."""
        for change in self.settings:
            yield None, change
        for table in self.tables:
            for change in table.changes:
                yield table, change

    @property
    def impact(self) -> Impact | None:
        """The worst of all impacts; None when nothing changed."""
        found = {change.impact for _, change in self.changes}
        return next((each for each in Impact if each in found), None)
