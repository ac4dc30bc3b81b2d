"""Idempotency keys around a run: claimed before it begins, and finished on every way out.

A key is finished by the last thing that can fail. Finishing it never hides why a run failed.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial

from rocky.errors import RockyError, RunSkipped, StateSyncFailed
from rocky.ledger.idempotency import KeyHold, SkippedIdempotent, SkippedInFlight
from rocky.ledger.record import RunId
from rocky.remote.idempotency import RemoteKeyHold

Hold = KeyHold | RemoteKeyHold
Warn = Callable[[str], None]


@dataclass(slots=True)
class HeldKey:
    """A run's key. `begun` is told its id; `succeeded` is said before the end, or it failed."""

    begun: Callable[[RunId], None] | None = None
    succeeded: bool = False


@contextmanager
def held_key(
    key: str | None,
    claim: Callable[[str], Hold | SkippedIdempotent | SkippedInFlight],
    *,
    warn: Warn,
    is_lenient: bool = False,
) -> Iterator[HeldKey]:
    """Inside, the key is this run's. Raises RunSkipped when another run has it, or had it.

    `is_lenient` lets a run stand whose key could not be finished because its server was away.
    """
    if key is None:
        yield HeldKey()
        return
    claimed = claim(key)
    if isinstance(claimed, SkippedIdempotent | SkippedInFlight):
        raise RunSkipped(key, claimed.run_id, in_flight=isinstance(claimed, SkippedInFlight))
    held = HeldKey(partial(_name, claimed, warn))
    with claimed:
        try:
            yield held
        except BaseException:
            _finish_failed(claimed, warn)
            raise
        try:
            kept = claimed.finish(succeeded=held.succeeded)
        except StateSyncFailed as failure:
            if not is_lenient:
                raise
            warn(f"{failure}; a run that is asked for with this key again is made again")
        else:
            if not kept:
                warn(
                    f"the idempotency key `{key}` was taken over by another run, as if this one"
                    " had died"
                )


def _name(claimed: Hold, warn: Warn, run_id: RunId) -> None:
    """Say whose key it is. That is for people: whether its run is alive is told otherwise."""
    try:
        claimed.record_run(run_id)
    except StateSyncFailed as failure:
        warn(f"{failure}; others are not told which run has it")


def _finish_failed(claimed: Hold, warn: Warn) -> None:
    try:
        claimed.finish(succeeded=False)
    except RockyError as failure:
        warn(str(failure))
