"""What a run asks of a ledger that is kept elsewhere too. `rocky.remote` has the answers.

A run works on the file here. What is known elsewhere is all that anybody will find if this process
dies, so commits vouch for that state of the ledger and for no later one.
"""

import logging
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from threading import Event, Thread
from typing import Final, Protocol

from rocky.errors import StateSyncFailed
from rocky.ledger.chain import Head
from rocky.ledger.record import RunId
from rocky.ledger.writer import Ledger

logger = logging.getLogger(__name__)

PUBLISHED_EVERY_SECONDS: Final = 15.0
"""How often the records of a run that goes on are made known elsewhere."""


class HeldElsewhere(Protocol):
    """Tables that no other machine writes while this is held."""

    def name(self, run_id: str) -> None:
        """Say which run holds them, once that is known."""


class RemoteState(Protocol):
    """The ledger as it is kept elsewhere; a no-op where it is not."""

    @property
    def is_remote(self) -> bool: ...

    @property
    def is_unvouched(self) -> bool:
        """Whether the remote copy could not be read, so that nobody knows what it holds."""

    @property
    def published_head(self) -> Head | None:
        """The last state of the ledger that others can find."""

    def knows(self, head: Head) -> bool:
        """Whether the ledger has this head, here or where it is kept."""

    def claim(self, targets: Sequence[str]) -> AbstractContextManager[HeldElsewhere]: ...

    def publish(self, run_id: str, *, required: bool = True) -> Head | None: ...


@contextmanager
def published_meanwhile(remote: RemoteState, ledger: Ledger, run_id: RunId) -> Iterator[None]:
    """Inside, what is recorded is published from time to time: a run may take hours."""
    if not remote.is_remote:
        yield
        return
    over = Event()
    thread = Thread(
        target=_publish, args=(remote, ledger, run_id, over), name="rocky-publish", daemon=True
    )
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()


def _publish(remote: RemoteState, ledger: Ledger, run_id: RunId, over: Event) -> None:
    seen = ledger.head()
    while not over.wait(PUBLISHED_EVERY_SECONDS):
        head = ledger.head()
        if head != seen:
            try:
                remote.publish(run_id, required=False)
            except StateSyncFailed as error:
                # Sent with the rest at the end, which fails the run if it must.
                logger.warning("records not published yet: run=%s why=%s", run_id, error)
            seen = head
