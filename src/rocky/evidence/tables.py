"""Tables as the ledger knows them: where each is, which commits it should have, who made them.

A table may have been dropped and made again: then version 0 was recorded twice, and what was
recorded before the newest is of a table that is no more. Only as a whole: where a commit or a file
of the former table is still there, its log was tampered with, and all of it is still expected.
Of any other version what was recorded first holds: else a record that somebody puts on top would
explain a commit that was rewritten, or a checkpoint that was made up.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from blake3 import blake3

from rocky.evidence.findings import Findings
from rocky.evidence.records import LedgerRecords, Maker, TablePlace, maker_of, split_place
from rocky.ledger.provenance import content_hash
from rocky.ledger.run_records import CommitRecord, ModelExecution

PARQUET_SUFFIX = ".parquet"


class ExpectedCommit(NamedTuple):
    """A commit that was recorded, and who made it."""

    record: CommitRecord
    maker: Maker

    @property
    def facts(self) -> tuple[object, ...]:
        """What is said of the commit, whoever records it: a run may find it again and say so."""
        record = self.record
        return record.blake3_hash, record.checkpoint_blake3, record.foreign, self.maker


class FormerTable(NamedTuple):
    """What was recorded of a table until it was made anew, which run `since` did."""

    commits: dict[int, ExpectedCommit]
    executions: list[tuple[Maker, ModelExecution]]
    since: str

    @property
    def makers(self) -> frozenset[Maker]:
        own = {maker for maker, _ in self.executions}
        return frozenset(own | {commit.maker for commit in self.commits.values()})


@dataclass(frozen=True, slots=True)
class ExpectedTable:
    """What should be in a table's log, and the executions that say so."""

    commits: dict[int, ExpectedCommit] = field(default_factory=dict)
    executions: list[tuple[Maker, ModelExecution]] = field(default_factory=list)
    former: list[FormerTable] = field(default_factory=list)
    repeated: list[ExpectedCommit] = field(default_factory=list)
    """Records of versions that had been recorded otherwise; nothing is expected of them."""

    def add(self, maker: Maker, execution: ModelExecution) -> None:
        """Expect what an execution recorded, which is newer than what was added before."""
        for commit in (*execution.adopted, *execution.commits):
            said = self.commits.get(commit.version)
            if commit.version == 0 and said and said.record.blake3_hash != commit.blake3_hash:
                self.former.append(FormerTable(dict(self.commits), list(self.executions), maker[0]))
                self.commits.clear()
                self.executions.clear()
                self.repeated.clear()
                said = None
            owner = maker_of(commit.run_id or maker[0], commit.model_name or maker[1])
            now = ExpectedCommit(commit, owner)
            if said is None:
                self.commits[commit.version] = now
            elif now.facts != said.facts:
                self.repeated.append(ExpectedCommit(commit, maker))
        self.executions.append((maker, execution))

    def with_former(self) -> "ExpectedTable":
        """All that was ever recorded, for a table that was not dropped but tampered with."""
        commits: dict[int, ExpectedCommit] = {}
        executions: list[tuple[Maker, ModelExecution]] = []
        for each in self.former:
            commits |= each.commits
            executions += each.executions
        return ExpectedTable(
            {**commits, **self.commits}, [*executions, *self.executions], repeated=self.repeated
        )


class LiveFile(NamedTuple):
    """A file as a log has it."""

    size: int
    rows: int


LiveFiles = Mapping[str, LiveFile]
"""The files of a table at one version, by name: a file of a clone may lie elsewhere."""


@dataclass(frozen=True, slots=True)
class TableHistory:
    """What a log that could be trusted says: the table at each version, and the rows of files.

    Empty where a commit is missing or changed: nothing can be told from such a log. `since` is the
    run that made the table anew, if it was dropped.
    """

    states: Mapping[int, LiveFiles] = field(default_factory=dict)
    rows: Mapping[str, int] = field(default_factory=dict)
    since: str = ""

    def content(self, version: int) -> str | None:
        """The hash of the table's files at a version."""
        state = self.states.get(version)
        if state is None:
            return None
        return content_hash(name.removesuffix(PARQUET_SUFFIX) for name in state)


def place_of_execution(
    recorded: LedgerRecords, maker: Maker, target: str | None
) -> TablePlace | None:
    """Where an execution's table is. Early records say it only by the files they name."""
    root = recorded.root_of(maker[0])
    if root is not None and target is not None:
        return recorded.places.table(root, target)
    for place in recorded.files.get(maker, ()):
        return split_place(place)[0]
    return None


def find_tables(recorded: LedgerRecords) -> dict[TablePlace, ExpectedTable]:
    """Every table that some execution wrote, or found as it was."""
    tables: dict[TablePlace, ExpectedTable] = {}
    for maker, execution in recorded.executions.items():
        made = (*execution.adopted, *execution.commits)
        place = place_of_execution(recorded, maker, execution.target)
        if place is None or not (made or execution.commit_version is not None):
            continue
        tables.setdefault(place, ExpectedTable()).add(maker, execution)
    return tables


class DroppedTables:
    """Finds out which tables were dropped, and what of them is no longer expected."""

    def __init__(self, recorded: LedgerRecords, findings: Findings) -> None:
        self._recorded = recorded
        self._findings = findings
        self._gone: dict[TablePlace, frozenset[Maker]] = {}
        self._lost: set[str] = set()

    def settle(
        self, place: TablePlace, expected: ExpectedTable, files: Mapping[str, bytes]
    ) -> tuple[ExpectedTable, str]:
        """What to expect of a table, by the files of its log, and the run that made it anew."""
        if not expected.former:
            return expected, ""
        makers = frozenset(maker for each in expected.former for maker in each.makers)
        makers -= frozenset(maker for maker, _ in expected.executions)
        lost = self._files_of(place, makers)
        if self._has_commits(expected, files) or self._has_files(place, lost):
            return expected.with_former(), ""
        since = expected.former[-1].since
        self._findings.note(
            f"{place.root}/{place.prefix}: it was dropped, and made again by `{since}`;"
            " of the former table only the records are left"
        )
        self._gone[place] = makers
        self._lost |= lost
        return expected, since

    def has_dropped(self, path: str) -> bool:
        """Whether a file was one of a table that is no more, and not one of its successor's."""
        return path in self._lost

    def is_former(self, place: TablePlace, maker: Maker) -> bool:
        """Whether what a run did was done to a table that is no more."""
        return maker in self._gone.get(place, frozenset())

    def _has_commits(self, expected: ExpectedTable, files: Mapping[str, bytes]) -> bool:
        now = {each.record.blake3_hash for each in expected.commits.values()}
        former = {
            commit.record.blake3_hash
            for each in expected.former
            for commit in each.commits.values()
        }
        found = {blake3(data).hexdigest() for data in files.values()}
        return bool(found & (former - now))

    def _has_files(self, place: TablePlace, paths: set[str]) -> bool:
        objects = self._recorded.places.warehouse(place.root).objects
        below = len(place.root) + 1
        return any(objects.info(path[below:]) is not None for path in paths)

    def _files_of(self, place: TablePlace, former: frozenset[Maker]) -> set[str]:
        """The files of a former table; what its successor has recorded too is that one's."""
        start = place.place("")
        found: tuple[set[str], set[str]] = (set(), set())
        for maker, files in self._recorded.files.items():
            found[maker in former].update(path for path in files if path.startswith(start))
        kept, lost = found
        return lost - kept
