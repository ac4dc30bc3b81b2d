"""Decisions: for every file of a table whether it goes, and why it stays. Pure.

A file goes only when everything that could need it was looked at and does not. What cannot be told
is a doubt, and a doubt about a table keeps all of it.
"""

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from rocky.collect.needs import NOBODY, TableNeeds
from rocky.ledger.record import RunId
from rocky.store.files import SUFFIX
from rocky.store.lifetimes import CommitInfo, Lifetime, Lifetimes
from rocky.store.objects import ObjectInfo

OBSOLETE: Final = "no live version and no retained run needs it"
UNFINISHED: Final = "no version has it: its writer did not finish"

_OURS: Final = "rocky/"


class Keep(StrEnum):
    """Why a file stays; of several reasons the first one here is given."""

    LIVE = "live"
    NEEDED = "needed"
    SHARED = "shared"
    HELD = "held"
    YOUNG = "young"


@dataclass(frozen=True, slots=True)
class TableFacts:
    """A table as it was found: its log, its data files and what was staged."""

    target: str
    lifetimes: Lifetimes
    files: tuple[ObjectInfo, ...]
    staged: tuple[ObjectInfo, ...] = ()


@dataclass(frozen=True, slots=True)
class Horizons:
    """Moments in milliseconds: what was the newest at or after one of them stays.

    `held_ms` is when the oldest living run may have begun to read, `young_ms` the age at which
    files may go. Commits of others at or after `foreign_ms` may belong to records we do not see.
    """

    young_ms: int
    foreign_ms: int
    held_ms: int | None = None


@dataclass(frozen=True, slots=True)
class Ownership:
    """Whose commits are ours: those of this ledger's runs. An id is None in an old ledger."""

    runs: Collection[str]
    ledger_id: str | None = None

    def covers(self, commit: CommitInfo) -> bool:
        """Whether a commit was made by a run that this ledger knows."""
        return (
            (commit.engine or "").startswith(_OURS)
            and commit.run_id in self.runs
            and (commit.ledger_id is None or commit.ledger_id == self.ledger_id)
        )


@dataclass(frozen=True, slots=True)
class Removal:
    """A data file that goes."""

    file: ObjectInfo
    reason: str


@dataclass(frozen=True, slots=True)
class Kept:
    """A data file that stays. `runs` are the retained runs that need it."""

    file: ObjectInfo
    why: Keep
    runs: frozenset[RunId] = frozenset()


@dataclass(frozen=True, slots=True)
class Verdict:
    """What becomes of a table's files, as of its version `latest`.

    With a `doubt` nothing goes and nothing is listed.
    """

    target: str
    latest: int | None = None
    removals: tuple[Removal, ...] = ()
    staged: tuple[ObjectInfo, ...] = ()
    kept: tuple[Kept, ...] = ()
    doubt: str | None = None


def decide(
    facts: TableFacts, needs: TableNeeds, ownership: Ownership, horizons: Horizons
) -> Verdict:
    """What goes and what stays of one table."""
    latest = facts.lifetimes.latest
    doubt = next(_doubts(facts.lifetimes, needs, ownership, horizons), None)
    if doubt is not None:
        return Verdict(facts.target, latest, doubt=doubt)
    removals: list[Removal] = []
    kept: list[Kept] = []
    for file in sorted(facts.files, key=lambda each: each.path):
        name = file.path.rpartition("/")[2]
        spans = facts.lifetimes.of_file.get(name, ())
        runs = _needing(name.removesuffix(SUFFIX), spans, needs)
        shared = name.removesuffix(SUFFIX) in needs.shared
        why = _reason_to_keep(file, spans, runs, horizons, shared=shared)
        if why is None:
            removals.append(Removal(file, OBSOLETE if spans else UNFINISHED))
        else:
            kept.append(Kept(file, why, runs))
    staged = tuple(each for each in facts.staged if each.modified_ms < horizons.young_ms)
    return Verdict(facts.target, latest, tuple(removals), staged, tuple(kept))


def _doubts(
    lifetimes: Lifetimes, needs: TableNeeds, ownership: Ownership, horizons: Horizons
) -> Iterator[str]:
    for commit in reversed(lifetimes.commits):
        if commit.time_ms >= horizons.foreign_ms and not ownership.covers(commit):
            yield (
                f"version {commit.version} was committed by {_maker_of(commit)},"
                " of which the state file had no record when this began"
            )
    latest = -1 if lifetimes.latest is None else lifetimes.latest
    for version, runs in sorted(needs.versions.items()):
        here = runs - needs.elsewhere
        if here and not 0 <= version <= latest:
            yield f"retained run `{max(here)}` needs version {version}, which its log has not"


def _maker_of(commit: CommitInfo) -> str:
    if commit.run_id is not None:
        return f"run `{commit.run_id}`"
    return f"`{commit.engine}`" if commit.engine else "somebody else"


def _needing(address: str, spans: tuple[Lifetime, ...], needs: TableNeeds) -> frozenset[RunId]:
    runs = needs.addresses.get(address, NOBODY)
    for version, needing in needs.versions.items():
        if any(span.covers(version) for span in spans):
            runs |= needing
    return runs


def _reason_to_keep(
    file: ObjectInfo,
    spans: tuple[Lifetime, ...],
    runs: frozenset[RunId],
    horizons: Horizons,
    *,
    shared: bool,
) -> Keep | None:
    if spans and spans[-1].end is None:
        return Keep.LIVE
    if runs:
        return Keep.NEEDED
    if shared:
        return Keep.SHARED
    # When it was last part of the newest version, so that somebody may have begun to read it.
    last_ms = max((span.ended_ms or 0 for span in spans), default=0)
    if horizons.held_ms is not None and last_ms >= horizons.held_ms:
        return Keep.HELD
    if max(last_ms, file.modified_ms) >= horizons.young_ms:
        return Keep.YOUNG
    return None
