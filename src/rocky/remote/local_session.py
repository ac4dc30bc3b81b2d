"""The session of a ledger that is kept where it is: there is nothing to fetch or to send."""

from collections.abc import Iterable
from contextlib import AbstractContextManager, nullcontext
from types import TracebackType
from typing import Self

from rocky.ledger.chain import Head
from rocky.ledger.claims import Claim
from rocky.project.state import Idempotency
from rocky.remote.claims import RemoteClaim


class LocalSession:
    """What a session can be asked, answered for `backend = "local"`."""

    is_remote = False
    is_unvouched = False
    published_head: Head | None = None
    warnings: tuple[str, ...] = ()

    def knows(self, head: Head) -> bool:  # noqa: ARG002 - as a remote one
        """Nothing was published."""
        return False

    def acquire(self) -> None:
        """Nothing: the file is the state."""

    def refresh(self) -> None:
        """Nothing: the file is the state."""

    def publish(self, run_id: str | None = None, *, required: bool = True) -> Head | None:  # noqa: ARG002 - as a remote one
        return None

    def finalize(self, run_id: str | None = None) -> None:
        """Nothing: what was recorded is where it stays."""

    def claim(self, targets: Iterable[str]) -> AbstractContextManager[RemoteClaim]:  # noqa: ARG002 - as a remote one
        return nullcontext(RemoteClaim.nobody())

    def is_alive(self, run_id: str) -> bool:  # noqa: ARG002 - as a remote one
        """No run is at work elsewhere."""
        return False

    def living_runs(self) -> tuple[Claim, ...]:
        """None but those of this machine, which the ledger itself knows of."""
        return ()

    def keys(self, settings: Idempotency) -> None:
        """The ledger keeps its own keys."""

    def close(self) -> None:
        """Nothing was opened."""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()
