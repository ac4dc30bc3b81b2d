"""Claims between machines: which living run writes which tables.

On one machine: `rocky.ledger.claims`. A claim is a note that its run refreshes; one that has not
been refreshed for a while is of a run that is dead. Ages are by the server's clock. Whoever wants
tables writes its claim first and looks second, so of two at the same moment at least one sees the
other, and gives way.
"""

import json
import os
import platform
import uuid
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from random import Random
from threading import Event, Lock, Thread
from types import TracebackType
from typing import Final, NamedTuple, Self

from rocky.canonical import record_json
from rocky.errors import ClaimLost, LedgerLocked, StateSyncFailed
from rocky.ledger.claims import Claim
from rocky.ledger.record import MalformedRecord, RunId
from rocky.state.backend import CLAIMS, FENCE, Backend, Note, claim_name
from rocky.state.events import LOGGER
from rocky.state.transfer import TransferFailed, Transfers

CLAIM_SECONDS: Final = 60.0
"""How long a claim that is not refreshed keeps others away."""
_BEATS: Final = 4
"""How often a claim is refreshed in that time."""
_TRIES: Final = 5
_PAUSE_SECONDS: Final = 0.1
_FAREWELL_SECONDS: Final = 10.0
"""How long a run that has ended waits for its claim to be removed: it ends by itself anyway."""
_FORGOTTEN: Final = 20
"""A claim this many times as old as it may be is removed by whoever sees it."""
_REMEMBERED_SECONDS: Final = 1.0
_SPACE: Final = (Path("/proc/sys/kernel/random/boot_id"), Path("/proc/self/ns/pid"))


class RemoteClaim:
    """A claim of this process, refreshed until it is given up. `claims` None: nobody sees it."""

    def __init__(self, claims: "RemoteClaims | None", token: str, claim: Claim) -> None:
        self._claims = claims
        self._token = token
        self._claim = claim
        self._stop = Event()
        self.was_lost = False
        self.fence: int | None = None
        self._lock = Lock()
        self._refreshed_at = 0.0
        self._heart: Thread | None = None

    @classmethod
    def nobody(cls) -> "RemoteClaim":
        """A claim that nobody sees."""
        return cls(None, "", _claim_of(()))

    def name(self, run_id: str) -> None:
        """Say whose claim it is, once the run has an id. Raises StateSyncFailed."""
        with self._lock:
            self._claim = replace(self._claim, run_id=RunId(run_id))
        if self._claims is not None:
            try:
                self.write()
            except TransferFailed as failure:
                raise failure.as_error("claim tables in the remote state") from failure

    def write(self) -> None:
        """Refresh it. Raises TransferFailed."""
        if self._claims is not None:
            with self._lock:
                self._claims.write(self._token, self._claim)
                self._refreshed_at = self._claims.clock.now()

    def check(self) -> None:
        """Raise ClaimLost when another run has taken the tables over; to be asked at a commit.

        Only a claim that was not refreshed in time can be taken over, so a process that was
        stopped for a while asks, and others do not. Where that cannot be told, the tables' own
        fencing tokens decide.
        """
        claims = self._claims
        if claims is None or not self._has_lapsed():
            return
        self.was_lost = True
        with self._lock:
            wanted = self._claim.targets
        try:
            other = claims.find_overlap(self._token, wanted)
            if other is None:
                self.write()
                return
        except TransferFailed as failure:
            LOGGER.warning("cannot tell whether a claim still holds: %s", failure)
            return
        raise ClaimLost(
            f"this run has lost its claim, and commits nothing more:"
            f" {claims.describe(other, wanted)}"
        )

    def check_unbroken(self) -> None:
        """Raise ClaimLost when the claim has lapsed at any time, whoever holds the tables now."""
        self.check()
        if self.was_lost:
            raise ClaimLost(
                "for a while the remote state could not be told that this run is alive, so others"
                " may have taken over its tables: it goes no further"
            )

    def _has_lapsed(self) -> bool:
        claims = self._claims
        return claims is not None and claims.clock.now() - self._refreshed_at >= claims.seconds

    def __enter__(self) -> Self:
        if self._claims is not None:
            self._heart = Thread(target=self._beat, name="rocky-claim", daemon=True)
            self._heart.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._stop.set()
        if self._claims is None:
            return
        if self._heart is not None:
            self._heart.join(_FAREWELL_SECONDS)
        self._claims.give_up(self._token)

    def _beat(self) -> None:
        claims = self._claims
        if claims is None:
            return
        while not self._stop.wait(claims.seconds / _BEATS):
            if self._has_lapsed():
                # Others may have the tables by now: then the next commit is refused.
                with suppress(ClaimLost):
                    self.check()
                continue
            try:
                self.write()
            except TransferFailed as failure:
                LOGGER.warning("a claim could not be refreshed: %s", failure)


class _SeenClaim(NamedTuple):
    """Another run's claim, and the processes among which its number means something."""

    token: str
    claim: Claim
    space: str


class RemoteClaims:
    """Claims of all runs on one ledger."""

    def __init__(self, shelf: Backend, transfers: Transfers, seconds: float) -> None:
        self._shelf = shelf
        self._transfers = transfers
        self._random = Random()
        self._remembered: tuple[float, Sequence[_SeenClaim]] | None = None
        self.seconds = seconds
        self.clock = transfers.clock

    def hold(self, targets: Iterable[str], newest: int | None = None) -> RemoteClaim:
        """A claim on tables, by full name. Raises LedgerLocked, TransferFailed.

        It has a fencing token if it is to be above the `newest` that is known.
        """
        wanted = tuple(targets)
        token = uuid.uuid4().hex
        tried = 0
        while True:
            held = RemoteClaim(self, token, _claim_of(wanted))
            held.write()
            try:
                other = self.find_overlap(token, wanted)
                if other is None and newest is not None:
                    held.fence = self._next_fence(newest)
            except (TransferFailed, StateSyncFailed):
                self.give_up(token)
                raise
            if other is None:
                return held
            self.give_up(token)
            tried += 1
            if tried >= _TRIES:
                raise LedgerLocked(self._message(other, wanted))
            # Both may have given way to each other: not again at the same moment.
            self.clock.sleep(_PAUSE_SECONDS * self._random.uniform(0.2, 1) * tried)

    def is_alive(self, run_id: str) -> bool:
        """Whether a run holds a claim; True when it cannot be told."""
        try:
            return any(seen.claim.run_id == run_id for seen in self._recently_living())
        except TransferFailed as failure:
            LOGGER.warning("cannot tell whether run `%s` is alive: %s", run_id, failure)
            return True

    def write(self, token: str, claim: Claim) -> None:
        """Make or refresh a claim. Raises TransferFailed."""
        said = {"claim": claim.to_json(), "space": process_space()}
        data = record_json(said).encode()
        name = claim_name(token)
        transfer = self._transfers.begin(min(self._transfers.timeout_seconds, self.seconds))
        transfer.call(lambda: self._shelf.put_note(name, data, self.seconds))

    def give_up(self, token: str) -> None:
        """Remove a claim; one that cannot be removed ends by itself."""
        name = claim_name(token)
        transfer = self._transfers.begin(min(self._transfers.timeout_seconds, _FAREWELL_SECONDS))
        try:
            transfer.call(lambda: self._shelf.delete_note(name))
        except TransferFailed as failure:
            LOGGER.warning("a claim could not be given up: %s", failure)

    def living(self) -> list[_SeenClaim]:
        """All claims of runs that are not dead. Raises TransferFailed."""
        transfer = self._transfers.begin(min(self._transfers.timeout_seconds, self.seconds))
        notes = transfer.call(lambda: self._shelf.list_notes(CLAIMS))
        found = []
        for note in notes:
            token = note.name.rpartition("/")[2].removesuffix(".json")
            if note.age > self.seconds:
                if note.age > self.seconds * _FORGOTTEN:
                    self.give_up(token)
                continue
            seen = _parse_seen(token, note.data)
            if seen is not None and not _is_gone(seen):
                found.append(seen)
        return found

    def _recently_living(self) -> Sequence[_SeenClaim]:
        now = self.clock.now()
        if self._remembered is None or now - self._remembered[0] > _REMEMBERED_SECONDS:
            self._remembered = (now, self.living())
        return self._remembered[1]

    def find_overlap(self, token: str, targets: Iterable[str]) -> Claim | None:
        """A living claim of another run on one of some tables. Raises TransferFailed."""
        wanted = {each.lower() for each in targets}
        for seen in self.living():
            if seen.token != token and wanted & {each.lower() for each in seen.claim.targets}:
                return seen.claim
        return None

    def _message(self, other: Claim, targets: Iterable[str]) -> str:
        return (
            f"{self.describe(other, targets)}; wait until it"
            f" has ended: if it was killed, its claim ends {self.seconds:g} s later"
        )

    def describe(self, other: Claim, targets: Iterable[str]) -> str:
        """Who holds which of some tables, since when and where."""
        held = {each.lower() for each in other.targets}
        both = sorted(each for each in targets if each.lower() in held)
        more = f" and {len(both) - 1} more of these tables" if len(both) > 1 else ""
        return (
            f"{other.holder} `{both[0]}`{more} (process {other.process} on `{other.hostname}`,"
            f" since {other.since:%Y-%m-%d %H:%M:%S} UTC, as the remote state says)"
        )

    def _next_fence(self, newest: int) -> int:
        """A fencing token that nobody was given before, above `newest`.

        Raises TransferFailed, and StateSyncFailed for a note that is no number.
        """
        transfer = self._transfers.begin(min(self._transfers.timeout_seconds, self.seconds))
        while True:
            note = transfer.call(lambda: self._shelf.load_note(FENCE))
            given = b"0" if note is None else note.data
            if not given.isdigit():
                raise StateSyncFailed(
                    f"`{self._shelf.place(FENCE)}` is damaged: it should hold the highest fencing"
                    " token; write a number there that is above the `fence` of every run"
                )
            fence = max(newest, int(given)) + 1
            if transfer.call(partial(self._put_fence, note, fence)):
                return fence

    def _put_fence(self, note: Note | None, fence: int) -> bool:
        data = str(fence).encode()
        if note is None:
            return self._shelf.create_note(FENCE, data)
        return self._shelf.replace_note(note, data)


def process_space() -> str:
    """What tells the processes of this system from those of others; empty when that is unknown."""
    boot, space = _SPACE
    with suppress(OSError):
        return f"{boot.read_text().strip()} {space.readlink()}"
    return ""


def _claim_of(targets: tuple[str, ...]) -> Claim:
    now = datetime.now(UTC)
    return Claim(RunId(""), os.getpid(), platform.node(), now, targets)


def _parse_seen(token: str, data: bytes) -> _SeenClaim | None:
    """A claim in a note; None when another version wrote what we do not understand."""
    try:
        said = json.loads(data)
        return _SeenClaim(token, Claim.from_json(said["claim"]), str(said.get("space", "")))
    except (ValueError, KeyError, TypeError, AttributeError, MalformedRecord) as wrong:
        LOGGER.warning("a claim in the remote state cannot be read: %s", wrong)
        return None


def _is_gone(seen: _SeenClaim) -> bool:
    """Whether the process is one of this system, and there is none of its number any more."""
    if not seen.space or seen.space != process_space():
        return False
    try:
        os.kill(seen.claim.process, 0)
    except ProcessLookupError:
        return True
    except OSError:
        return False
    return False
