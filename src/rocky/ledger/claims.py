"""Claims on one machine: which living run writes which tables.

Between machines: `rocky.state.claims`. A run holds an operating-system lock on a file of its own
for as long as its process lives. A file that is there says nothing; only the lock does: it goes
when the process does, however it ends. Claims are looked at and made inside a write transaction of
the ledger, never at the same time.
"""

import fcntl
import json
import os
import platform
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Final

from rocky.canonical import record_json
from rocky.errors import (
    ClaimLost,
    LedgerLocked,
    LedgerUnreadable,
    LedgerUnwritable,
    advise_on_write,
)
from rocky.ledger.record import MalformedRecord, Record, RunId

_SUFFIX: Final = ".lock"
_UNDER_WAY: Final = ".claim"


@dataclass(frozen=True, slots=True)
class Claim(Record):
    """The tables a run will write, by full name, and the process that does it.

    A `command` that is no run may claim tables too; `run_id` is then a name of its own.
    """

    run_id: RunId
    process: int
    hostname: str
    since: datetime
    targets: tuple[str, ...] = ()
    command: str | None = None

    @property
    def holder(self) -> str:
        """Who holds the tables and does what, for a sentence."""
        if self.command is not None:
            return f"`{self.command}` is using"
        return f"run `{self.run_id}` is writing"


@dataclass(frozen=True, slots=True)
class LocalClaim:
    """A claim of this process: its lock is held until `release`."""

    path: Path
    descriptor: int

    def check(self) -> None:
        """Raise ClaimLost when its file was taken away: nobody is kept from the tables then."""
        mine = os.fstat(self.descriptor)
        try:
            there = self.path.stat()
        except (FileNotFoundError, NotADirectoryError):
            there = None
        if there is None or (there.st_dev, there.st_ino) != (mine.st_dev, mine.st_ino):
            raise ClaimLost(
                f"the claim `{self.path}` was removed while its process was at work, so others may"
                " be using the same tables; it writes and removes nothing more"
            )

    def release(self) -> None:
        # Unlinked first: whoever opens the file afterwards makes a new one.
        self.path.unlink(missing_ok=True)
        os.close(self.descriptor)


class TableBusy(LedgerLocked):
    """Not a run but a command holds a table: it takes one table at a time and is soon done."""


def claims_folder(ledger: Path) -> Path:
    return ledger.with_name(f"{ledger.name}.runs")


def hold_claim(ledger: Path, claim: Claim) -> LocalClaim:
    """Lock a file of the run's own. Raises LedgerUnwritable."""
    folder = claims_folder(ledger)
    path = folder / f"{claim.run_id}{_SUFFIX}"
    made = folder / f"{claim.run_id}{_UNDER_WAY}"
    held: LocalClaim | None = None
    try:
        folder.mkdir(exist_ok=True)
        flags = os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC
        held = LocalClaim(made, os.open(made, flags, 0o644))
        fcntl.flock(held.descriptor, fcntl.LOCK_EX)
        os.write(held.descriptor, record_json(claim.to_json()).encode())
        # Under its own name it is whole and locked from the first moment; the lock is the file's.
        made.rename(path)
        held = LocalClaim(path, held.descriptor)
    except OSError as failure:
        if held is not None:
            held.release()
        raise LedgerUnwritable(
            f"cannot lock a file in `{folder}`: {(failure.strerror or '').lower()};"
            f" {advise_on_write(failure, 'make it writable')}, or name another state file with"
            " `--state-path`"
        ) from failure
    return held


def is_alive(ledger: Path, run_id: str) -> bool:
    """Whether the process of a run still holds its claim."""
    return _is_locked(claims_folder(ledger) / f"{run_id}{_SUFFIX}")


def living_runs(ledger: Path) -> tuple[Claim, ...]:
    """What the running runs have claimed, by run. Raises LedgerLocked when in doubt."""
    return tuple(claim for claim in _living_claims(ledger) if claim.command is None)


def find_holders(ledger: Path) -> tuple[str, ...]:
    """Who else is at work on a ledger, for a sentence; nobody when that cannot be told."""
    mine = (os.getpid(), platform.node())
    try:
        claims = [each for each in _living_claims(ledger) if (each.process, each.hostname) != mine]
    except (LedgerLocked, LedgerUnreadable):
        # Somebody is about to be told that the file is locked; this would only hide it.
        return ()
    # A process may hold several; its run says more than what else it holds.
    claims.sort(key=lambda each: each.command is not None)
    of_process = {(each.process, each.hostname): each for each in reversed(claims)}
    return tuple(
        f"{f'`{each.command}`' if each.command else f'run `{each.run_id}`'}"
        f" (process {each.process} on `{each.hostname}`,"
        f" since {each.since:%Y-%m-%d %H:%M:%S} UTC)"
        for each in of_process.values()
    )


def _living_claims(ledger: Path) -> list[Claim]:
    claims = (_load_claim(path) for path in _claim_files(ledger) if _is_locked(path))
    return [claim for claim in claims if claim is not None]


def refuse_claimed(ledger: Path, targets: Iterable[str]) -> None:
    """Raises LedgerLocked when a living run writes one of these tables; clears dead claims."""
    wanted = {target.lower(): target for target in targets}
    for path in _claim_files(ledger, _UNDER_WAY):
        # Nobody makes a claim while we are in a transaction: whoever began this one is dead.
        path.unlink(missing_ok=True)
    for path in _claim_files(ledger):
        if not _is_locked(path):
            path.unlink(missing_ok=True)
            continue
        claim = _load_claim(path)
        if claim is None:
            continue
        both = sorted(wanted[each.lower()] for each in claim.targets if each.lower() in wanted)
        if both:
            more = f" and {len(both) - 1} more of these tables" if len(both) > 1 else ""
            kind = LedgerLocked if claim.command is None else TableBusy
            raise kind(
                f"{claim.holder} `{both[0]}`{more}"
                f" (process {claim.process} on `{claim.hostname}`,"
                f" since {claim.since:%Y-%m-%d %H:%M:%S} UTC);"
                " wait until it has ended, or end that process, then run again"
            )


def _claim_files(ledger: Path, suffix: str = _SUFFIX) -> Iterator[Path]:
    folder = claims_folder(ledger)
    try:
        yield from sorted(each for each in folder.iterdir() if each.suffix == suffix)
    except (FileNotFoundError, NotADirectoryError):
        return
    except OSError as failure:
        raise _cannot_tell(folder, failure) from failure


def _cannot_tell(place: Path, failure: OSError) -> LedgerUnreadable:
    why = (failure.strerror or "").lower()
    return LedgerUnreadable(f"cannot tell which runs are alive: `{place}`: {why}")


def _is_locked(path: Path) -> bool:
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except (FileNotFoundError, NotADirectoryError):
        return False
    except OSError as failure:
        raise _cannot_tell(path, failure) from failure
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    finally:
        os.close(descriptor)
    return False


def _load_claim(path: Path) -> Claim | None:
    """What a living run claims; None when it has just ended."""
    try:
        return Claim.from_json(json.loads(path.read_bytes()))
    except FileNotFoundError:
        return None
    except (OSError, ValueError, MalformedRecord) as failure:
        raise LedgerLocked(
            f"a run holds `{path}`, and what it writes cannot be read ({failure});"
            " wait until it has ended"
        ) from failure
