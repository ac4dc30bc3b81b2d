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
from datetime import UTC, datetime
from functools import partial
from typing import Final, Self, TypeVar

from rocky.canonical import record_json
from rocky.errors import StateConflict, StateSyncFailed
from rocky.ledger.claims import Claim
from rocky.ledger.idempotency import (
    FAILED,
    IN_FLIGHT,
    SUCCEEDED,
    HeldKey,
    SkippedIdempotent,
    SkippedInFlight,
    judge_key,
    open_key_record,
)
from rocky.ledger.pipeline_records import IdempotencyRecord
from rocky.ledger.record import MalformedRecord, RunId
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
            record = open_key_record(key, owner, self.settings, now)
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
            verdict = judge_key(found, self.settings, now, partial(self._is_free, found, now))
            if verdict is not None:
                return verdict
            if self.replace(note, record, now):
                return RemoteKey(self, name, record, pulse, clock)
        raise StateConflict(f"the idempotency key `{key}` is being taken by another run; run again")

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
            why = f"`{found.state}` is not a state of a key"
        except (ValueError, MalformedRecord) as wrong:
            why = str(wrong)
        raise StateSyncFailed(
            f"the idempotency key at `{self._shelf.place(note.name)}` cannot be read ({why});"
            " if its run is no longer running, delete it there"
        )

    def call(self, call: Callable[[], T]) -> T:
        return self._in_words(lambda: self._transfers.begin().call(call))

    @staticmethod
    def _in_words(call: Callable[[], T]) -> T:
        try:
            return call()
        except TransferFailed as failure:
            raise failure.as_error(_DOING) from failure

    def _is_free(self, found: IdempotencyRecord, now: datetime) -> bool:
        if now >= found.expires_at:
            return True
        living = self._in_words(self._claims.living)
        return not any(seen.claim.run_id == found.owner for seen in living)

    @staticmethod
    def _ttl(record: IdempotencyRecord, now: datetime) -> float:
        return max((record.expires_at - now).total_seconds(), 1.0)


class RemoteKey(HeldKey):
    """A key between machines, held with a claim beside it.

    Inside the `with` its claim is refreshed; others may take it for dead a while after it is not.
    """

    def __init__(
        self,
        keys: RemoteKeys,
        name: str,
        record: IdempotencyRecord,
        pulse: RemoteClaim,
        clock: Callable[[], datetime],
    ) -> None:
        super().__init__(record, keys.settings, clock)
        self._keys = keys
        self._name = name
        self._pulse = pulse

    def __enter__(self) -> Self:
        self._pulse.__enter__()
        return self

    def _write(self, record: IdempotencyRecord) -> bool:
        note = self._keys.load(self._name)
        if note is None or self._keys.parse(note).owner != record.owner:
            return False
        return self._keys.replace(note, record, self._clock())

    def _release(self) -> None:
        self._pulse.__exit__(None, None, None)


def _format(record: IdempotencyRecord) -> bytes:
    return record_json(record.to_json()).encode()
