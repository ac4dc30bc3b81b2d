"""Which runs a sweep forgets. Pure.

A ledger vouches for tables, so age alone forgets nothing: a run that made a commit, or whose
records another run's records lean on, stays for as long as they do. What goes are runs that left
nothing behind but their own story. In doubt a run is kept.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final

from rocky.ledger.record import RunId
from rocky.project.state import Domain

NOBODY: Final[frozenset[RunId]] = frozenset()


class KeptFor(StrEnum):
    """Why a run that is old enough to go stays; of several reasons the first one here is given."""

    DOMAIN = "its records are of a domain that is not swept"
    LATEST = "it is the newest that wrote to its warehouse"
    RUNNING = "it has not ended"
    COMMITTED = "it made a commit that a table's log has"
    ADOPTED = "a later run recorded commits that it left behind"
    INDEXED = "its result may stand for a build"
    REUSED = "a run that is kept reused what it built"
    LEANED_ON = "records that are kept rest on its own"
    UNCERTAIN = "it did not end well, and may have made a commit that nobody recorded"


@dataclass(slots=True)
class PastRun:
    """What bears on whether a run may be forgotten. `domains` are those it has records in.

    An `unfinished` run died or gave up. `reused` are the runs whose builds it took over, `hashes`
    the inputs it found equal to theirs, `files` what it recorded of tables' files.
    """

    run_id: RunId
    warehouse: str | None = None
    running: bool = False
    unfinished: bool = False
    committed: bool = False
    domains: set[Domain] = field(default_factory=set)
    reused: set[RunId] = field(default_factory=set)
    adopted: set[RunId] = field(default_factory=set)
    hashes: set[str] = field(default_factory=set)
    files: set[str] = field(default_factory=set)


@dataclass(frozen=True, slots=True)
class Leaning:
    """What records that are not a run's own rest on: an index of results, and hashes in it.

    `named` are the runs the index names. `hashes` are inputs that only a reuse can vouch for.
    `in_logs` are runs that made a commit, by warehouse, where the logs were looked at.
    """

    named: Collection[RunId] = NOBODY
    hashes: Collection[str] = frozenset()
    in_logs: Mapping[str, Collection[str]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Verdicts:
    """The runs to forget, oldest first, and how many that are old enough stay for which reason."""

    forgotten: tuple[RunId, ...] = ()
    kept: Mapping[KeptFor, int] = field(default_factory=dict)


def decide_runs(
    runs: Mapping[RunId, PastRun],
    old: Collection[RunId],
    leaning: Leaning,
    applies_to: Collection[Domain],
) -> Verdicts:
    """Which of the `old` runs are forgotten."""
    reasons: dict[RunId, KeptFor] = {}
    latest = _latest(runs.values())
    adopted = {each for run in runs.values() for each in run.adopted}
    for run_id in sorted(old, reverse=True):
        why = _own_reason(runs[run_id], leaning, applies_to)
        if why is None and run_id in latest:
            why = KeptFor.LATEST
        if why is None and run_id in adopted:
            why = KeptFor.ADOPTED
        if why is not None:
            reasons[run_id] = why
    candidates = [each for each in sorted(old, reverse=True) if each not in reasons]
    _keep_what_is_leant_on(runs, candidates, leaning, reasons)
    forgotten = tuple(sorted(each for each in old if each not in reasons))
    return Verdicts(forgotten, Counter(reasons.values()))


def _latest(runs: Iterable[PastRun]) -> set[RunId]:
    """The newest run of each warehouse: its anchor names it."""
    newest: dict[str | None, RunId] = {}
    for run in runs:
        newest[run.warehouse] = max(run.run_id, newest.get(run.warehouse, run.run_id))
    return set(newest.values())


def _own_reason(run: PastRun, leaning: Leaning, applies_to: Collection[Domain]) -> KeptFor | None:
    if not {"history", *run.domains} <= set(applies_to):
        return KeptFor.DOMAIN
    if run.running:
        return KeptFor.RUNNING
    if run.committed:
        return KeptFor.COMMITTED
    if run.run_id in leaning.named:
        return KeptFor.INDEXED
    if not run.unfinished:
        return None
    looked_at = leaning.in_logs.get(run.warehouse or "")
    if looked_at is None:
        return KeptFor.UNCERTAIN
    return KeptFor.COMMITTED if run.run_id in looked_at else None


def _keep_what_is_leant_on(
    runs: Mapping[RunId, PastRun],
    candidates: list[RunId],
    leaning: Leaning,
    reasons: dict[RunId, KeptFor],
) -> None:
    """Keep, newest first, runs that kept ones reused, and the last to vouch for hash or file."""
    going, wanted = set(candidates), set(leaning.hashes)
    stay = [run for run_id, run in runs.items() if run_id not in going]
    reused = {each for run in stay for each in run.reused}
    vouched = {each for run in stay for each in run.hashes}
    files = {each for run in stay for each in run.files}
    for run_id in candidates:
        run = runs[run_id]
        if run_id in reused:
            reasons[run_id] = KeptFor.REUSED
        elif not run.files <= files or (run.hashes - vouched) & wanted:
            reasons[run_id] = KeptFor.LEANED_ON
        else:
            continue
        # What it reused is older, so it is yet to come.
        reused |= run.reused
        vouched |= run.hashes
        files |= run.files
