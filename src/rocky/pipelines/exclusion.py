"""An exclusion: a table or file that a pipeline left alone, and why."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Exclusion:
    """A table or file that was left alone, and why."""

    name: str
    target: str | None
    reason: str
