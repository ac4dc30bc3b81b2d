"""The scope of a verification: one run, one table, all, or what came after a point in the chain.

The chain is checked in any scope: it holds as a whole or not at all. After a point, what is left
out is to judge older records by what they say, and to read the files that they name. Of older runs
those are read all the same that somebody may rest on: they have committed, built or promoted
something, or have not ended. All others found everything as it was; their rows are compared with
the chain, but for those before an entry that was sealed.
"""

from dataclasses import dataclass, replace
from typing import Final

from rocky.evidence.chain import Chain
from rocky.evidence.records import Maker

_OF_RUNS: Final = frozenset(
    {
        "run_history",
        "model_executions",
        "output_artifacts",
        "input_provenance",
        "promotions",
        "erasures",
    }
)
"""The tables whose keys begin with a run."""


@dataclass(frozen=True, slots=True)
class Point:
    """An entry of a chain, by its number. `entry_hash` is the one that a seal has of it."""

    seq: int
    entry_hash: str | None = None

    @property
    def is_sealed(self) -> bool:
        """Whether somebody has kept the entry elsewhere, so that nobody can make another of it."""
        return self.entry_hash is not None and self.seq > 0

    def is_in(self, chain: Chain) -> bool:
        """Whether a chain has this entry; of one that nobody has kept, whether it is so long."""
        found = chain.heads.get(self.seq)
        return self.seq == 0 or (found is not None and self.entry_hash in (None, found))


@dataclass(frozen=True, slots=True)
class VerificationScope:
    """What to check: the records and tables of one run, one table (by full name), or all.

    With `files`, only files of these hashes are read again. With `since`, of all that only what
    runs have recorded after a point, and of their files only those that no earlier run had.
    """

    run_id: str | None = None
    target: str | None = None
    files: frozenset[str] | None = None
    since: Point | None = None
    recent: frozenset[str] | None = None
    """The runs after that point, once the chain was read."""
    looked: str | None = None
    """Of a run in which nothing had changed, the one that looked, once records were read."""

    @property
    def is_all(self) -> bool:
        return self.run_id is None and self.target is None

    def holds(self, maker: Maker, target: str | None) -> bool:
        """Whether what a run did with a table belongs to it."""
        if self.run_id is not None and maker[0] not in (self.run_id, self.looked):
            return False
        if self.recent is not None and maker[0] not in self.recent:
            return False
        return self.target is None or (target or "").lower() == self.target.lower()

    def found_in(self, chain: Chain) -> "VerificationScope":
        """The same with the runs after the point; without a point that the chain does not have.

        Nothing may be left out by a seal that does not fit.
        """
        if self.since is None or not self.since.is_in(chain):
            return replace(self, since=None)
        return replace(self, recent=_runs_after(self.since, chain))


EVERYTHING: Final = VerificationScope()


def _runs_after(point: Point, chain: Chain) -> frozenset[str]:
    """The runs of which anything was written after a point, also of such as had ended before it."""
    return frozenset(
        entry.key.partition("|")[0]
        for entry in chain.entries
        if entry.seq > point.seq and entry.table in _OF_RUNS and not entry.removed
    )
