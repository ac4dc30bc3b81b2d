"""Publishing: our records put on top of whatever the backend has, by compare and swap.

The published chain only ever grows at its end. Whoever loses takes the winner's copy, writes its
own records on top and tries again. An answer that got lost is no loss: if the copy that is there
has our last entry in its chain, it was ours, or was built on ours.
"""

from dataclasses import dataclass, replace
from pathlib import Path
from random import Random
from typing import Final

from rocky.errors import LedgerUnreadable, LedgerUnwritable, StateConflict
from rocky.ledger.chain import BEFORE_FIRST, Head
from rocky.ledger.copies import CopyFacts, common_head, inspect_copy, knows
from rocky.ledger.rebase import Reapplied, reapply
from rocky.remote.copies import Copy, Overtaken, Shelf
from rocky.remote.events import Outcome
from rocky.remote.local_copy import LocalCopy
from rocky.remote.transfer import Transfer, TransferFailed

_LOSSES: Final = 25
"""How often somebody may be faster: with so many writers something else is wrong."""
_PAUSE_SECONDS: Final = 0.05
_NO_GENERATION: Final = f'"{"0" * 32}"'
_SLOWEST: Final = 8


@dataclass(frozen=True, slots=True)
class Standing:
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

    standing: Standing
    copy: Path | None = None
    merges: int = 0
    size: int = 0


class Publisher:
    """Puts records into one named copy."""

    def __init__(self, shelf: Shelf, name: str, local: LocalCopy, random: Random) -> None:
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
            except Overtaken:
                continue
            place = self._shelf.place(self._name)
            why = f"the server of `{place}` does not hold to conditional puts: use another one"
            raise TransferFailed(Outcome.ERROR, why)

    def publish(
        self,
        transfer: Transfer,
        ours: Path,
        standing: Standing,
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
            except Overtaken:
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
                " when this run began; put it back, or run again to begin it anew from this machine"
            )
        return found

    def _behind(
        self,
        standing: Standing,
        ours: CopyFacts,
        theirs: tuple[Copy, Path, CopyFacts],
        ours_path: Path,
        *,
        adopt: bool,
    ) -> Standing:
        """How we stand to a copy that was put there meanwhile."""
        copy, path, facts = theirs
        if knows(ours_path, facts.head):
            # Another process of this machine has sent a part of the same file.
            return Standing(copy.generation, facts.head, facts.head, facts.head)
        if standing.generation is None:
            refuse_other(ours, facts, self._shelf.place(self._name), adopt=adopt)
            shared = common_head(ours_path, path)
            standing = replace(standing, since=shared, base=shared)
        return replace(standing, is_aligned=False)

    def _merge(
        self, winner: Copy, ours: Path, standing: Standing, run_id: str | None
    ) -> tuple[Path, Reapplied]:
        path, _ = self.unpack(winner)
        if standing.head != BEFORE_FIRST and not knows(path, standing.head):
            raise StateConflict(
                f"the remote state at `{self._shelf.place(self._name)}` was put back to an older"
                f" copy: it has lost entry {standing.head.seq}, which it had when this run began;"
                " restore the newer one"
            )
        merged = reapply(path, ours, standing.since, standing.base)
        if run_id is not None and run_id in merged.dropped:
            raise StateConflict(
                f"the remote state says that run `{run_id}` died: another machine could not see it"
                " at work, and goes on without it; what it wrote is recorded by the next run of"
                " the same tables"
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
        standing = Standing(generation, head, since, head, aligned)
        return Publication(standing, None if aligned else copy, losses, size)

    def _pause(self, transfer: Transfer, losses: int) -> None:
        wait = _PAUSE_SECONDS * min(losses, _SLOWEST) * self._random.uniform(0.5, 1.5)
        transfer.shared.clock.sleep(min(wait, max(transfer.remaining, 0)))


def refuse_other(ours: CopyFacts, theirs: CopyFacts, place: str, *, adopt: bool) -> None:
    """Raises StateConflict when two files are of two ledgers."""
    if ours.ledger_id != theirs.ledger_id and not adopt:
        raise StateConflict(
            f"the local state file is ledger `{ours.ledger_id}` and the remote one at `{place}` is"
            f" ledger `{theirs.ledger_id}`; move the local file away to go on with the remote one,"
            " or name another place in `[state]`"
        )
