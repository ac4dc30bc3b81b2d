"""Idempotency keys around a run: claimed before it begins, and finished on every way out."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from rocky.errors import RunSkipped
from rocky.ledger.idempotency import SkippedIdempotent, SkippedInFlight, claim_key
from rocky.ledger.record import RunId
from rocky.ledger.writer import Ledger
from rocky.project.state import Idempotency
from rocky.remote.idempotency import RemoteKeys


@dataclass(slots=True)
class HeldKey:
    """A run's key. `begun` is told its id; `succeeded` is said before the end, or it failed."""

    begun: Callable[[RunId], None] | None = None
    succeeded: bool = False


@contextmanager
def held_key(
    ledger: Ledger, key: str | None, settings: Idempotency, shared: RemoteKeys | None = None
) -> Iterator[HeldKey]:
    """Inside, the key is this run's. Raises RunSkipped when another run has it, or had it.

    `shared` are keys that several machines share.
    """
    if key is None:
        yield HeldKey()
        return
    claimed = shared.claim(key) if shared is not None else claim_key(ledger, key, settings)
    if isinstance(claimed, SkippedIdempotent | SkippedInFlight):
        raise RunSkipped(key, claimed.run_id, in_flight=isinstance(claimed, SkippedInFlight))
    held = HeldKey(claimed.record_run)
    with claimed:
        yield held
        claimed.finish(succeeded=held.succeeded)
