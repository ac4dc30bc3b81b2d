"""Idempotency keys on one machine: one run for a key, however often it is asked for.

Between machines: `rocky.state.idempotency`. A key is claimed before the run begins, so that a run
that is not needed leaves no record. Whoever claims it holds a lock of the operating system until
the end: a key in flight whose lock is free belongs to a process that is dead, and is taken over at
once. Of another host's process only the time can tell.
"""

import json
import os
import platform
import uuid
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Final, NamedTuple, Self

from rocky.canonical import record_json
from rocky.errors import LedgerUnreadable, RunRefused
from rocky.ledger.claims import Claim, LocalClaim, hold_claim, is_alive
from rocky.ledger.ledger_file import LedgerFile
from rocky.ledger.pipeline_records import IdempotencyRecord
from rocky.ledger.record import NO_RUN, RunId, key_of, load_record
from rocky.ledger.schema import RowWriter
from rocky.project.configuration.blocks import Idempotency

KEY_TABLE: Final = "idempotency_keys"
IN_FLIGHT: Final = "InFlight"
SUCCEEDED: Final = "Succeeded"
FAILED: Final = "Failed"

_LONGEST: Final = 1024


class SkippedIdempotent(NamedTuple):
    """A run was made under this key: another one is not needed."""

    key: str
    run_id: RunId
    state: str


class SkippedInFlight(NamedTuple):
    """A run under this key is running. It has no id yet when it has only just started."""

    key: str
    run_id: RunId | None
    hostname: str | None
    since: datetime


def _now() -> datetime:
    return datetime.now(UTC)


class HeldKey(ABC):
    """A key that is this process's until `finish`. Left without it, the run counts as failed."""

    def __init__(
        self, record: IdempotencyRecord, settings: Idempotency, clock: Callable[[], datetime]
    ) -> None:
        self.record = record
        self._settings = settings
        self._clock = clock
        self._done = False

    def record_run(self, run_id: RunId) -> None:
        """Say which run the key stands for, once it has begun."""
        self.record = replace(self.record, run_id=run_id)
        self._write(self.record)

    def finish(self, *, succeeded: bool) -> bool:
        """Say how the run ended. False when the key had been taken over meanwhile."""
        ended = replace(
            self.record,
            state=SUCCEEDED if succeeded else FAILED,
            expires_at=self._clock() + timedelta(days=self._settings.retention_days),
        )
        try:
            return self._write(ended)
        finally:
            if not self._done:
                self._done = True
                self._release()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if not self._done:
            self.finish(succeeded=False)

    @abstractmethod
    def _write(self, record: IdempotencyRecord) -> bool:
        """Replace the record; False when the key is no longer this process's."""

    @abstractmethod
    def _release(self) -> None:
        """Let go of what shows that the holder is alive."""


class LocalKey(HeldKey):
    """A key of this machine, held with a lock of the operating system."""

    def __init__(
        self,
        ledger: LedgerFile,
        record: IdempotencyRecord,
        settings: Idempotency,
        lock: LocalClaim,
        clock: Callable[[], datetime],
    ) -> None:
        super().__init__(record, settings, clock)
        self._ledger = ledger
        self._lock = lock

    def _write(self, record: IdempotencyRecord) -> bool:
        with self._ledger.transaction() as rows:
            found = _load(self._ledger, rows, record.key)
            mine = found is not None and found.owner == record.owner
            if mine:
                _put(rows, record)
        return mine

    def _release(self) -> None:
        self._lock.release()


KeyClaim = LocalKey | SkippedIdempotent | SkippedInFlight


def claim_key(
    ledger: LedgerFile, key: str, settings: Idempotency, clock: Callable[[], datetime] = _now
) -> KeyClaim:
    """Take a key for a run, or say which run makes another one needless.

    Raises RunRefused for what is no key, LedgerUnreadable, LedgerUnwritable, LedgerLocked.
    """
    _check_key(key)
    now, lock = clock(), None
    try:
        with ledger.transaction() as rows:
            found = _load(ledger, rows, key)
            if found is not None:
                is_free = partial(is_key_free, ledger.path, found, now)
                verdict = judge_key(found, settings, now, is_free)
                if verdict is not None:
                    return verdict
            owner = f"key-{uuid.uuid4().hex}"
            lock = hold_claim(ledger.path, _lock_of(owner, now))
            record = open_key_record(key, owner, settings, now)
            _put(rows, record)
    except BaseException:
        if lock is not None:
            lock.release()
        raise
    return LocalKey(ledger, record, settings, lock, clock)


def find_expired(path: Path, rows: Iterable[tuple[str, str]], now: datetime) -> list[str]:
    """Of the rows of a ledger's keys, those that keep nobody away any more."""
    return [
        key
        for key, value in rows
        if is_key_free(path, load_record(IdempotencyRecord, path, KEY_TABLE, key, value), now)
    ]


def _check_key(key: str) -> None:
    if not key.strip() or len(key) > _LONGEST:
        raise RunRefused(
            f"an idempotency key has 1 to {_LONGEST} characters, and not only white space"
        )


def judge_key(
    found: IdempotencyRecord, settings: Idempotency, now: datetime, is_free: Callable[[], bool]
) -> SkippedIdempotent | SkippedInFlight | None:
    """Why a key cannot be had; None when it can. `is_free` says whether one in flight is dead."""
    if found.state == IN_FLIGHT:
        if is_free():
            return None
        return SkippedInFlight(found.key, found.run_id or None, found.hostname, found.since)
    if now >= found.expires_at or (found.state == FAILED and settings.dedup_on == "success"):
        return None
    return SkippedIdempotent(found.key, found.run_id, found.state)


def open_key_record(
    key: str, owner: str, settings: Idempotency, now: datetime
) -> IdempotencyRecord:
    """The record of a key that is taken now and has no run yet."""
    expires = now + timedelta(hours=settings.in_flight_ttl_hours)
    return IdempotencyRecord(key, NO_RUN, IN_FLIGHT, now, expires, platform.node(), owner)


def is_key_free(path: Path, found: IdempotencyRecord, now: datetime) -> bool:
    """Whether a key keeps nobody away any more, in the ledger at a path."""
    if found.state != IN_FLIGHT or found.hostname != platform.node() or found.owner is None:
        return now >= found.expires_at
    # Here the lock says it, and a run may take longer than anybody foresaw.
    return not is_alive(path, found.owner)


def _lock_of(owner: str, now: datetime) -> Claim:
    return Claim(RunId(owner), os.getpid(), platform.node(), now, (), "rocky run")


def _load(ledger: LedgerFile, rows: RowWriter, key: str) -> IdempotencyRecord | None:
    value = rows.find(KEY_TABLE, key_of(key))
    if value is None:
        return None
    found = load_record(IdempotencyRecord, ledger.path, KEY_TABLE, key, value)
    if found.state not in (IN_FLIGHT, SUCCEEDED, FAILED):
        raise LedgerUnreadable(
            f"the state file `{ledger.path}` says `{json.dumps(found.state)}` of the idempotency"
            f" key `{key}`, which is not a state of a key; restore it from a copy"
        )
    return found


def _put(rows: RowWriter, record: IdempotencyRecord) -> None:
    rows.put(KEY_TABLE, key_of(record.key), record_json(record.to_json()))
