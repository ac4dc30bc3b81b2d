"""Decisions: which runs must stay replayable, what they need, and which files go. Pure.

A file goes only when everything that could need it was looked at and does not. What cannot be told
is a doubt, and a doubt about a table keeps all of it. A reused model's evidence belongs to the run
that built it, so that run's record is needed as long as the run that reused it is kept.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from enum import StrEnum
from pathlib import PurePosixPath
from typing import Final, NamedTuple, TypeVar

from rocky.ledger.branch_records import PromotionRecord
from rocky.ledger.provenance import ProvenanceRecord, ReadRecord
from rocky.ledger.record import RunId, run_id_at
from rocky.ledger.run_records import ArtifactRecord, ModelExecution
from rocky.store.data_file import SUFFIX
from rocky.store.file_usage import CommitInfo, Lifetime, Lifetimes
from rocky.store.objects import ObjectInfo


class Retention(NamedTuple):
    """Runs are kept that are young enough, and in any case the newest so many."""

    max_age_days: int
    min_runs_kept: int
    min_age_days: int


def retained_runs(run_ids: Sequence[RunId], retention: Retention, now: datetime) -> set[RunId]:
    """The runs, of those given in any order, whose records must stay replayable."""
    newest_first = sorted(run_ids, reverse=True)
    # Ids sort as the runs began, so the horizon is the id of a run that would have begun there.
    horizon = run_id_at(days_before(now, retention.max_age_days))
    young = {each for each in newest_first if each >= horizon}
    return young | set(newest_first[: retention.min_runs_kept])


def days_before(moment: datetime, days: int) -> datetime:
    """So many days earlier; the beginning of time when there were not so many."""
    try:
        return moment - timedelta(days=days)
    except OverflowError:
        return datetime.min.replace(tzinfo=moment.tzinfo)


K = TypeVar("K")


@dataclass(frozen=True, slots=True)
class TableNeeds:
    """What retained runs need of one table: files by address, and versions; for which runs.

    Runs `elsewhere` wrote a table of this name in another warehouse, or in this one before it was
    moved. `shared` are the addresses of files that branches refer to.
    """

    addresses: Mapping[str, frozenset[RunId]] = field(default_factory=dict)
    versions: Mapping[int, frozenset[RunId]] = field(default_factory=dict)
    elsewhere: frozenset[RunId] = frozenset()
    shared: frozenset[str] = frozenset()


NO_RUNS: Final[frozenset[RunId]] = frozenset()
NO_NEEDS: Final = TableNeeds()


@dataclass(frozen=True, slots=True)
class Needs:
    """What retained runs need, by table; `places` are the warehouses they say they wrote to.

    `shared` are the addresses of files of any table that branches refer to.
    """

    tables: Mapping[str, TableNeeds] = field(default_factory=dict)
    places: Mapping[RunId, str] = field(default_factory=dict)
    shared: frozenset[str] = frozenset()

    def of(self, target: str, place: str) -> TableNeeds:
        """The needs of a table in a warehouse, by its full name in any case."""
        elsewhere = frozenset(run for run, said in self.places.items() if said != place)
        mine = self.tables.get(target.lower(), NO_NEEDS)
        return replace(mine, elsewhere=elsewhere, shared=self.shared)


class RecordKey(NamedTuple):
    """Which record of a ledger: a run's, of a model by its name in lower case."""

    run_id: RunId
    model: str


Retainers = Mapping[RecordKey, frozenset[RunId]]
"""The records to be kept, and the retained runs that each is kept for."""


def retainers_of(executions: Iterable[tuple[RunId, ModelExecution]]) -> Retainers:
    """The records that the executions of retained runs stand on: their own, or those reused."""
    found: dict[RecordKey, frozenset[RunId]] = {}
    for run_id, execution in executions:
        name = execution.model_name.lower()
        _add(found, RecordKey(run_id, name), frozenset((run_id,)))
        if execution.reused_from is not None:
            # The model may have had another name when it was built.
            built = (execution.reused_model or execution.model_name).lower()
            _add(found, RecordKey(execution.reused_from, built), frozenset((run_id,)))
    return found


def find_needs(
    retainers: Retainers,
    executions: Iterable[tuple[RunId, ModelExecution]],
    provenances: Iterable[ProvenanceRecord],
    artifacts: Iterable[ArtifactRecord],
    promotions: Iterable[PromotionRecord] = (),
) -> Needs:
    """What the records to be kept need. Records that nothing retains are passed over."""
    addresses: dict[str, dict[str, frozenset[RunId]]] = {}
    versions: dict[str, dict[int, frozenset[RunId]]] = {}
    for run_id, execution in executions:
        runs = retainers.get(RecordKey(run_id, execution.model_name.lower()))
        if runs and execution.target is not None and execution.commit_version is not None:
            _add(versions.setdefault(execution.target.lower(), {}), execution.commit_version, runs)
    for record in provenances:
        runs = retainers.get(RecordKey(record.run_id, record.model_name.lower()))
        if not runs:
            continue
        for address in _output_addresses(record):
            _add(addresses.setdefault(record.target.lower(), {}), address, runs)
        for target, version in _versions_read(record):
            _add(versions.setdefault(target.lower(), {}), version, runs)
    for artifact in artifacts:
        runs = retainers.get(RecordKey(artifact.run_id, artifact.model_name.lower()))
        if runs:
            _add(addresses.setdefault(_table_of(artifact), {}), artifact.blake3_hash, runs)
    for promotion in promotions:
        for moved in promotion.tables:
            # What a promotion took the place of: it can be put back as long as it is kept.
            if moved.from_version is not None:
                found = versions.setdefault(moved.target.lower(), {})
                _add(found, moved.from_version, frozenset((promotion.run_id,)))
    names = {*addresses, *versions}
    return Needs(
        {name: TableNeeds(addresses.get(name, {}), versions.get(name, {})) for name in names}
    )


def _table_of(artifact: ArtifactRecord) -> str:
    """The full name of the table a file lies in: wherever the warehouse was, its path ends so."""
    return ".".join(PurePosixPath(artifact.file_path).parts[-4:-1]).lower()


def _output_addresses(record: ProvenanceRecord) -> Iterator[str]:
    yield from record.output_blake3
    # The name of a file is its hash; should the two lists ever differ, both are kept.
    yield from (PurePosixPath(path).stem for path in record.output_path)


def _versions_read(record: ProvenanceRecord) -> Iterator[tuple[str, int]]:
    for version in (record.base_version, record.output_version):
        if version is not None:
            yield record.target, version
    yield from _tables_read(record.reads)


def _tables_read(reads: Sequence[ReadRecord]) -> Iterator[tuple[str, int]]:
    for read in reads:
        if read.target is not None and read.version is not None:
            yield read.target, read.version
        yield from _tables_read(read.reads)


def _add(found: dict[K, frozenset[RunId]], key: K, runs: frozenset[RunId]) -> None:
    found[key] = found.get(key, NO_RUNS) | runs


OBSOLETE: Final = "no live version and no retained run needs it"
UNFINISHED: Final = "no version has it: its writer did not finish"

_ROCKY_PREFIX: Final = "rocky/"


class KeepReason(StrEnum):
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
            (commit.engine or "").startswith(_ROCKY_PREFIX)
            and commit.run_id in self.runs
            and (commit.ledger_id is None or commit.ledger_id == self.ledger_id)
        )


@dataclass(frozen=True, slots=True)
class FileRemoval:
    """A data file that goes."""

    file: ObjectInfo
    reason: str


@dataclass(frozen=True, slots=True)
class KeptFile:
    """A data file that stays. `runs` are the retained runs that need it."""

    file: ObjectInfo
    why: KeepReason
    runs: frozenset[RunId] = frozenset()


@dataclass(frozen=True, slots=True)
class TableDecision:
    """What becomes of a table's files, as of its version `latest`.

    With a `doubt` nothing goes and nothing is listed.
    """

    target: str
    latest: int | None = None
    removals: tuple[FileRemoval, ...] = ()
    staged: tuple[ObjectInfo, ...] = ()
    kept: tuple[KeptFile, ...] = ()
    doubt: str | None = None


def decide_files(
    facts: TableFacts, needs: TableNeeds, ownership: Ownership, horizons: Horizons
) -> TableDecision:
    """What goes and what stays of one table."""
    latest = facts.lifetimes.latest
    doubt = next(_doubts(facts.lifetimes, needs, ownership, horizons), None)
    if doubt is not None:
        return TableDecision(facts.target, latest, doubt=doubt)
    removals: list[FileRemoval] = []
    kept: list[KeptFile] = []
    for file in sorted(facts.files, key=lambda each: each.path):
        name = file.path.rpartition("/")[2]
        spans = facts.lifetimes.of_file.get(name, ())
        runs = runs_needing(name.removesuffix(SUFFIX), spans, needs)
        shared = name.removesuffix(SUFFIX) in needs.shared
        why = _reason_to_keep(file, spans, runs, horizons, shared=shared)
        if why is None:
            removals.append(FileRemoval(file, OBSOLETE if spans else UNFINISHED))
        else:
            kept.append(KeptFile(file, why, runs))
    staged = tuple(each for each in facts.staged if each.modified_ms < horizons.young_ms)
    return TableDecision(facts.target, latest, tuple(removals), staged, tuple(kept))


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
            yield f"retained run `{max(here)}` needs version {version}, which its log lacks"


def _maker_of(commit: CommitInfo) -> str:
    if commit.run_id is not None:
        return f"run `{commit.run_id}`"
    return f"`{commit.engine}`" if commit.engine else "somebody else"


def runs_needing(address: str, spans: tuple[Lifetime, ...], needs: TableNeeds) -> frozenset[RunId]:
    """The retained runs that need a file, by its address and the versions it was part of."""
    runs = needs.addresses.get(address, NO_RUNS)
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
) -> KeepReason | None:
    if spans and spans[-1].end is None:
        return KeepReason.LIVE
    if runs:
        return KeepReason.NEEDED
    if shared:
        return KeepReason.SHARED
    # When it was last part of the newest version, so that somebody may have begun to read it.
    last_ms = max((span.ended_ms or 0 for span in spans), default=0)
    if horizons.held_ms is not None and last_ms >= horizons.held_ms:
        return KeepReason.HELD
    if max(last_ms, file.modified_ms) >= horizons.young_ms:
        return KeepReason.YOUNG
    return None
