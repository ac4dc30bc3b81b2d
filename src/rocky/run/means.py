"""What somebody who asks for a run brings along. Values only: asking loads nothing heavy."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from rocky.remote.events import SyncListener
from rocky.run.applied import AppliedPlan
from rocky.run.circumstances import Circumstances
from rocky.run.listener import Listener, Silence


def _keep_quiet(_warning: str) -> None:
    return None


@dataclass(frozen=True, slots=True)
class Means:
    """Where records go, who asks, and who listens. `spark` is the caller's own session.

    `synced` hears of every transfer of a state that is kept elsewhere, `warn` of what went wrong
    when the run itself was over. `applied` is the kept plan that is carried out, if one is.
    """

    state: Path
    circumstances: Circumstances
    environment: Mapping[str, str] = field(repr=False)
    listener: Listener = field(default_factory=Silence)
    spark: Any = None
    synced: SyncListener | None = None
    warn: Callable[[str], None] = _keep_quiet
    applied: AppliedPlan | None = None
