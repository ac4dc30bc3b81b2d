"""Publication: our records put on top of whatever the backend has, by compare and swap.

The published chain only ever grows at its end. Whoever loses takes the winner's copy, writes its
own records on top and tries again. An answer that got lost is no loss: if the copy that is there
has our last entry in its chain, it was ours, or was built on ours.

A copy of an older schema is brought forward under this schema's name; the older one stays, for
machines with an older Rocky. `replace_state` begins anew, only for a ledger that nobody else can
know of yet, as that of a branch that is being made.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from random import Random
from typing import Final

from rocky.errors import LedgerUnreadable, LedgerUnwritable, StateConflict, StateSyncFailed
from rocky.ledger.chain import BEFORE_FIRST, Head
from rocky.ledger.copies import (
    CopyFacts,
    bring_forward,
    common_head,
    inspect_copy,
    knows,
    write_snapshot,
)
from rocky.ledger.rebase import RebaseResult, rebase_records
from rocky.ledger.schema import SCHEMA_VERSION
from rocky.project.configuration.blocks import State
from rocky.state.backend import Backend, Copy, GenerationChanged, RemoteFailure, copy_name
from rocky.state.events import Outcome
from rocky.state.local import LocalCopy
from rocky.state.tiers import open_backend
from rocky.state.transfer import Transfer, TransferFailed

_LOSSES: Final = 25
"""How often somebody may be faster: with so many writers something else is wrong."""
_PAUSE_SECONDS: Final = 0.05
_NO_GENERATION: Final = f'"{"0" * 32}"'
_SLOWEST: Final = 8


@dataclass(frozen=True, slots=True)
class CopyRelation:
    """How our copy and the published one stand to each other.

    `head` is where the published chain ended when last seen, at `generation`; None when there is
    none. `since` is the last entry of our chain that it holds, under this or another number;
    `base` is where it ended when we took over from it. `is_aligned` says that our chain goes on
    where the published one ends, so that it can be sent as it is.
    """

    generation: str | None
    head: Head = BEFORE_FIRST
    since: Head = BEFORE_FIRST
    base: Head = BEFORE_FIRST
    is_aligned: bool = True


@dataclass(frozen=True, slots=True)
class Publication:
    """What came of publishing. `copy` is the file that is there now, unless it is our own."""

    standing: CopyRelation
    copy: Path | None = None
    merges: int = 0
    size: int = 0


class Publisher:
    """Puts records into one named copy."""

    def __init__(self, shelf: Backend, name: str, local: LocalCopy, random: Random) -> None:
        self._shelf = shelf
        self._name = name
        self._local = local
        self._random = random

    def fetch(self, transfer: Transfer, name: str | None = None) -> Copy | None:
        """The copy that is there. Raises TransferFailed."""
        return transfer.call(lambda: self._shelf.load(name or self._name))

    def unpack(self, copy: Copy) -> tuple[Path, CopyFacts]:
        """A copy as a file that was checked. Raises TransferFailed when it is damaged."""
        path = self._local.scratch("theirs.db")
        try:
            path.write_bytes(copy.data)
        except OSError as failure:
            why = (failure.strerror or "").lower()
            raise LedgerUnwritable(f"cannot keep the remote state in `{path}`: {why}") from failure
        try:
            return path, inspect_copy(path)
        except LedgerUnreadable as error:
            place = self._shelf.place(self._name)
            why = f"the copy at `{place}` is not a whole state file; restore an older one there"
            raise TransferFailed(Outcome.ERROR, why) from error

    def expect_conditions(self, transfer: Transfer, ours: Path) -> None:
        """See that the backend holds to conditions, by puts that would change nothing.

        Raises TransferFailed when it does not: then two runs would overwrite each other unseen.
        """
        data = ours.read_bytes()
        for base in (None, _NO_GENERATION):
            try:
                self._swap(transfer, data, base)
            except GenerationChanged:
                continue
            place = self._shelf.place(self._name)
            why = f"the server of `{place}` does not support conditional puts: use another one"
            raise TransferFailed(Outcome.ERROR, why)

    def publish(
        self,
        transfer: Transfer,
        ours: Path,
        standing: CopyRelation,
        run_id: str | None = None,
        *,
        adopt: bool = False,
    ) -> Publication:
        """Put all that `ours` has recorded into the published copy.

        `adopt` says that our ledger was begun apart and may become part of the one that is there.
        Raises TransferFailed, StateConflict.
        """
        facts = inspect_copy(ours)
        winner: Copy | None = None
        losses = 0
        while True:
            candidate, head, generation = ours, facts.head, standing.generation
            if not standing.is_aligned:
                winner = winner or self._fetch_winner(transfer)
                generation = winner.generation
                candidate, merged = self._merge(winner, ours, standing, run_id)
                head = merged.head
                if not merged.written:
                    return self._done(generation, head, facts.head, candidate, losses)
            data = candidate.read_bytes()
            try:
                new = self._swap(transfer, data, generation)
                return self._done(new, head, facts.head, candidate, losses, len(data), ours)
            except GenerationChanged:
                losses += 1
            winner = self._fetch_winner(transfer)
            path, theirs = self.unpack(winner)
            if knows(path, head):
                return self._done(winner.generation, theirs.head, facts.head, path, losses)
            if losses > _LOSSES:
                raise StateConflict(
                    f"the remote state at `{self._shelf.place(self._name)}` was changed by others"
                    f" {losses} times while this run tried to add its records; run again"
                )
            standing = self._behind(standing, facts, (winner, path, theirs), ours, adopt=adopt)
            self._pause(transfer, losses)

    def _swap(self, transfer: Transfer, data: bytes, generation: str | None) -> str:
        return transfer.call(lambda: self._shelf.swap(self._name, data, generation))

    def _fetch_winner(self, transfer: Transfer) -> Copy:
        found = self.fetch(transfer)
        if found is None:
            raise StateConflict(
                f"the remote state at `{self._shelf.place(self._name)}` is gone, and it was there"
                " when this run began; put it back, or run again to start it from this machine"
            )
        return found

    def _behind(
        self,
        standing: CopyRelation,
        ours: CopyFacts,
        theirs: tuple[Copy, Path, CopyFacts],
        ours_path: Path,
        *,
        adopt: bool,
    ) -> CopyRelation:
        """How we stand to a copy that was put there meanwhile."""
        copy, path, facts = theirs
        if knows(ours_path, facts.head):
            # Another process of this machine has sent a part of the same file.
            return CopyRelation(copy.generation, facts.head, facts.head, facts.head)
        if standing.generation is None:
            refuse_other(ours, facts, self._shelf.place(self._name), adopt=adopt)
            shared = common_head(ours_path, path)
            standing = replace(standing, since=shared, base=shared)
        return replace(standing, is_aligned=False)

    def _merge(
        self, winner: Copy, ours: Path, standing: CopyRelation, run_id: str | None
    ) -> tuple[Path, RebaseResult]:
        path, _ = self.unpack(winner)
        if standing.head != BEFORE_FIRST and not knows(path, standing.head):
            raise StateConflict(
                f"the remote state at `{self._shelf.place(self._name)}` was put back to an older"
                f" copy: it has lost entry {standing.head.seq}, which it had when this run began;"
                " restore the newer one"
            )
        merged = rebase_records(path, ours, standing.since, standing.base)
        if run_id is not None and run_id in merged.dropped:
            raise StateConflict(
                f"the remote state says that run `{run_id}` died: another machine got no sign of"
                " life from it and continued without it; the next run of the same tables records"
                " what it"
                " wrote"
            )
        return path, merged

    def _done(
        self,
        generation: str | None,
        head: Head,
        since: Head,
        copy: Path,
        losses: int,
        size: int = 0,
        ours: Path | None = None,
    ) -> Publication:
        aligned = copy == ours or head == since
        standing = CopyRelation(generation, head, since, head, aligned)
        return Publication(standing, None if aligned else copy, losses, size)

    def _pause(self, transfer: Transfer, losses: int) -> None:
        wait = _PAUSE_SECONDS * min(losses, _SLOWEST) * self._random.uniform(0.5, 1.5)
        transfer.shared.clock.sleep(min(wait, max(transfer.remaining, 0)))


def refuse_other(ours: CopyFacts, theirs: CopyFacts, place: str, *, adopt: bool) -> None:
    """Raises StateConflict when two files are of two ledgers."""
    if ours.ledger_id != theirs.ledger_id and not adopt:
        raise StateConflict(
            f"the local state file is ledger `{ours.ledger_id}` and the remote one at `{place}` is"
            f" ledger `{theirs.ledger_id}`; move the local file away to continue with the remote"
            " one,"
            " or name another place in `[state]`"
        )


def bring_older_forward(shelf: Backend, transfer: Transfer, scratch: Path) -> Copy | None:
    """The copy of this schema, made from an older one's; None when there is none of those either.

    Raises TransferFailed.
    """
    for version in range(SCHEMA_VERSION - 1, 0, -1):
        older = copy_name(version)
        found = _load(shelf, transfer, older)
        if found is None:
            continue
        scratch.write_bytes(found.data)
        try:
            bring_forward(scratch)
        except LedgerUnreadable as error:
            why = f"the copy at `{shelf.place(older)}` is not a whole state file"
            raise TransferFailed(Outcome.ERROR, why) from error
        return _create(shelf, transfer, copy_name(), scratch.read_bytes())
    return None


def _create(shelf: Backend, transfer: Transfer, name: str, data: bytes) -> Copy | None:
    try:
        return Copy(transfer.call(lambda: shelf.swap(name, data, None)), data)
    except GenerationChanged:
        # Another machine was faster, or our own answer got lost: that one counts.
        return _load(shelf, transfer, name)


def _load(shelf: Backend, transfer: Transfer, name: str) -> Copy | None:
    return transfer.call(lambda: shelf.load(name))


def _ignore_report(_operation: str, _outcome: Outcome, _detail: str) -> None:
    return None


def replace_state(state: State, path: Path, environment: Mapping[str, str]) -> None:
    """Make the remote copy what the file at `path` is; nothing to do for a local state.

    Raises StateSyncFailed: then no other machine knows of the file.
    """
    if state.backend == "local":
        return
    shelf, name = open_backend(state, environment, _ignore_report), copy_name()
    snapshot = path.with_name(f"{path.name}.sent")
    try:
        write_snapshot(path, snapshot)
        shelf.swap(name, snapshot.read_bytes(), shelf.generation(name))
    except RemoteFailure as failure:
        raise StateSyncFailed(f"could not send `{path.name}`: {failure}") from failure
    except GenerationChanged as failure:
        raise StateSyncFailed(
            f"somebody else is making `{shelf.place(name)}` at this moment; try again"
        ) from failure
    finally:
        snapshot.unlink(missing_ok=True)
