"""What came of a pipeline's run, whatever its type: values only."""

from dataclasses import dataclass

from rocky.pipelines.checks.tables import ChecksResult
from rocky.run.outcomes import RunReport


@dataclass(frozen=True, slots=True)
class Excluded:
    """A table or file that was left alone, and why."""

    name: str
    target: str | None
    reason: str


@dataclass(frozen=True, slots=True)
class PipelineReport:
    """A run and what it left alone. `checks` is None where none were asked for."""

    kind: str
    run: RunReport
    excluded: tuple[Excluded, ...] = ()
    checks: ChecksResult | None = None
