"""Idempotency keys between machines: made only where there is none, replaced only as they were.

The same promises as `rocky.ledger.idempotency` gives on one machine. Whoever has a key holds a
claim beside it, of no tables, from before the key is made until it is finished: a key in flight
without a living claim is of a process that is dead, whether or not its run had begun, and can be
had.
"""

import json
import os
import platform
import uuid
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from types import TracebackType
from typing import Final, Self, TypeVar

from rocky.canonical import record_json
from rocky.errors import StateConflict, StateSyncFailed
from rocky.ledger.claims import Claim
from rocky.ledger.idempotency import (
    FAILED,
    IN_FLIGHT,
    SUCCEEDED,
    SkippedIdempotent,
    SkippedInFlight,
)
from rocky.ledger.pipeline_records import IdempotencyRecord
from rocky.ledger.record import NO_RUN, MalformedRecord, RunId
from rocky.project.configuration.blocks import Idempotency
from rocky.state.backend import Backend, Note, key_name
from rocky.state.claims import RemoteClaim, RemoteClaims
from rocky.state.transfer import TransferFailed, Transfers

T = TypeVar("T")

_TRIES: Final = 10
_DOING: Final = "keep an idempotency key in the remote state"


def _now() -> datetime:
    return datetime.now(UTC)


class RemoteKeys:
    """The idempotency keys of one ledger."""

    def __init__(
        self,
        shelf: Backend,
        transfers: Transfers,
        settings: Idempotency,
        claims: RemoteClaims,
    ) -> None:
        self._shelf = shelf
        self._transfers = transfers
        self._claims = claims
        self.settings = settings

    def claim(
        self, key: str, clock: Callable[[], datetime] = _now
    ) -> "RemoteKey | SkippedIdempotent | SkippedInFlight":
        """Take a key for a run, or say which run makes another one needless.

        Raises StateSyncFailed, also for a key that is there and cannot be read.
        """
        owner = f"key-{uuid.uuid4().hex}"
        claim = Claim(RunId(owner), os.getpid(), platform.node(), _now(), command="rocky run")
        pulse = RemoteClaim(self._claims, uuid.uuid4().hex, claim)
        with ExitStack() as unless_taken:
            unless_taken.push(pulse)
            # First of all: whoever sees the key must see that its holder is alive.
            self._in_words(pulse.write)
            taken = self._take(key, owner, pulse, clock)
            if isinstance(taken, RemoteKey):
                unless_taken.pop_all()
            return taken

    def _take(
        self, key: str, owner: str, pulse: RemoteClaim, clock: Callable[[], datetime]
    ) -> "RemoteKey | SkippedIdempotent | SkippedInFlight":
        name = key_name(key)
        for _ in range(_TRIES):
            now = clock()
            record = IdempotencyRecord(
                key,
                NO_RUN,
                IN_FLIGHT,
                now,
                now + timedelta(hours=self.settings.in_flight_ttl_hours),
                platform.node(),
                owner,
            )
            data = _format(record)
            if self.call(lambda: self._shelf.create_note(name, data, self._ttl(record, now))):  # noqa: B023 - called at once
                return RemoteKey(self, name, record, pulse, clock)
            note = self.load(name)
            if note is None:
                continue
            found = self.parse(note)
            # An answer that got lost: it was made, and by us.
            if found.owner == owner:
                return RemoteKey(self, name, record, pulse, clock)
            verdict = self._judge(found, now)
            if verdict is not None:
                return verdict
            if self.replace(note, record, now):
                return RemoteKey(self, name, record, pulse, clock)
        raise StateConflict(f"the idempotency key `{key}` is being taken by others; run again")

    def load(self, name: str) -> Note | None:
        return self.call(lambda: self._shelf.load_note(name))

    def replace(self, note: Note, record: IdempotencyRecord, now: datetime) -> bool:
        """Whether a key's record was replaced. Raises StateSyncFailed."""
        data, ttl = _format(record), self._ttl(record, now)
        if self.call(lambda: self._shelf.replace_note(note, data, ttl)):
            return True
        found = self.load(note.name)
        return found is not None and found.data == data

    def parse(self, note: Note) -> IdempotencyRecord:
        try:
            found = IdempotencyRecord.from_json(json.loads(note.data))
            if found.state in (IN_FLIGHT, SUCCEEDED, FAILED):
                return found
            why = f"`{found.state}` is no state of one"
        except (ValueError, MalformedRecord) as wrong:
            why = str(wrong)
        raise StateSyncFailed(
            f"the idempotency key at `{self._shelf.place(note.name)}` cannot be read ({why});"
            " delete it there, if its run is not at work"
        )

    def call(self, call: Callable[[], T]) -> T:
        return self._in_words(lambda: self._transfers.begin().call(call))

    @staticmethod
    def _in_words(call: Callable[[], T]) -> T:
        try:
            return call()
        except TransferFailed as failure:
            raise failure.as_error(_DOING) from failure

    def _judge(
        self, found: IdempotencyRecord, now: datetime
    ) -> SkippedIdempotent | SkippedInFlight | None:
        """Why the key cannot be had; None when it can."""
        if now >= found.expires_at:
            return None
        if found.state == IN_FLIGHT:
            living = self._in_words(self._claims.living)
            if not any(seen.claim.run_id == found.owner for seen in living):
                return None
            return SkippedInFlight(found.key, found.run_id or None, found.hostname, found.since)
        if found.state == FAILED and self.settings.dedup_on == "success":
            return None
        return SkippedIdempotent(found.key, found.run_id, found.state)

    @staticmethod
    def _ttl(record: IdempotencyRecord, now: datetime) -> float:
        return max((record.expires_at - now).total_seconds(), 1.0)


@dataclass(slots=True)
class RemoteKey:
    """A key that is this process's until `finish`. Left without it, the run counts as failed.

    Inside the `with` its claim is refreshed; others may take it for dead a while after it is not.
    """

    keys: RemoteKeys
    name: str
    record: IdempotencyRecord
    pulse: RemoteClaim
    clock: Callable[[], datetime] = _now
    _done: bool = field(default=False, init=False)

    def record_run(self, run_id: RunId) -> None:
        """Say which run the key stands for, once it has begun."""
        self.record = replace(self.record, run_id=run_id)
        self._write(self.record)

    def finish(self, *, succeeded: bool) -> bool:
        """Say how the run ended. False when the key had been taken over meanwhile."""
        retention = timedelta(days=self.keys.settings.retention_days)
        ended = replace(
            self.record,
            state=SUCCEEDED if succeeded else FAILED,
            expires_at=self.clock() + retention,
        )
        try:
            return self._write(ended)
        finally:
            self._release()

    def __enter__(self) -> Self:
        self.pulse.__enter__()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if not self._done:
            self.finish(succeeded=False)

    def _release(self) -> None:
        if not self._done:
            self._done = True
            self.pulse.__exit__(None, None, None)

    def _write(self, record: IdempotencyRecord) -> bool:
        note = self.keys.load(self.name)
        if note is None or self.keys.parse(note).owner != record.owner:
            return False
        return self.keys.replace(note, record, self.clock())


def _format(record: IdempotencyRecord) -> bytes:
    return record_json(record.to_json()).encode()
