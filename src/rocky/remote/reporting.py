"""What a session says: one event for each transfer, and warnings for the run's report."""

from rocky.remote.events import Outcome, SyncEvent, SyncListener, announce
from rocky.remote.transfer import Transfer


class Reporter:
    """Speaks of one place. What a policy has turned into a warning is said once."""

    def __init__(self, backend: str, listener: SyncListener | None) -> None:
        self._backend = backend
        self._listener = listener
        self._warnings: list[str] = []
        self.place = ""

    @property
    def warnings(self) -> tuple[str, ...]:
        return tuple(self._warnings)

    def warn(self, warning: str) -> None:
        if warning not in self._warnings:
            self._warnings.append(warning)

    def ended(
        self,
        operation: str,
        outcome: Outcome,
        transfer: Transfer,
        *,
        cause: Outcome | None = None,
        detail: str | None = None,
        size: int | None = None,
        merges: int = 0,
    ) -> None:
        """A transfer has ended. `cause` is the outcome that a policy turned into another."""
        event = SyncEvent(
            operation,
            outcome,
            self._backend,
            self.place,
            transfer.attempts,
            transfer.elapsed_ms,
            size,
            merges or None,
            cause,
            detail,
        )
        announce(event, self._listener)

    def noticed(self, operation: str, outcome: Outcome, detail: str) -> None:
        """Something beside a transfer went wrong, and the transfer goes on."""
        event = SyncEvent(operation, outcome, self._backend, self.place, detail=detail)
        announce(event, self._listener)
