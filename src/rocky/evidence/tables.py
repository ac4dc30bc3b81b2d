"""Tables as the ledger knows them: where each is, which commits it should have, who made them.

A table may have been dropped and made anew: then version 0 was recorded twice, and what was
recorded before the newest is of a table that is no more.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from rocky.evidence.hashes import content_hash
from rocky.evidence.places import TablePlace, split_place
from rocky.evidence.recorded import Maker, Recorded, maker_of
from rocky.ledger.records import CommitRecord, ModelExecution

SUFFIX = ".parquet"


class ExpectedCommit(NamedTuple):
    """A commit that was recorded, and who made it."""

    record: CommitRecord
    maker: Maker


class Former(NamedTuple):
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
    former: list[Former] = field(default_factory=list)

    def add(self, maker: Maker, execution: ModelExecution) -> None:
        """Expect what an execution recorded, which is newer than what was added before."""
        for commit in (*execution.adopted, *execution.commits):
            said = self.commits.get(commit.version)
            if commit.version == 0 and said and said.record.blake3_hash != commit.blake3_hash:
                self.former.append(Former(dict(self.commits), list(self.executions), maker[0]))
                self.commits.clear()
                self.executions.clear()
            owner = maker_of(commit.run_id or maker[0], commit.model_name or maker[1])
            self.commits[commit.version] = ExpectedCommit(commit, owner)
        self.executions.append((maker, execution))

    def with_former(self) -> "ExpectedTable":
        """All that was ever recorded, for a table that was not dropped but tampered with."""
        commits: dict[int, ExpectedCommit] = {}
        executions: list[tuple[Maker, ModelExecution]] = []
        for each in self.former:
            commits |= each.commits
            executions += each.executions
        return ExpectedTable({**commits, **self.commits}, [*executions, *self.executions])


class LiveFile(NamedTuple):
    """A file as a log has it."""

    size: int
    rows: int


State = Mapping[str, LiveFile]
"""The files of a table at one version, by name: a file of a clone may lie elsewhere."""


@dataclass(frozen=True, slots=True)
class History:
    """What a log that could be trusted says: the table at each version, and the rows of files.

    Empty where a commit is missing or changed: nothing can be told from such a log. `since` is the
    run that made the table anew, if it was dropped.
    """

    states: Mapping[int, State] = field(default_factory=dict)
    rows: Mapping[str, int] = field(default_factory=dict)
    since: str = ""

    def content(self, version: int) -> str | None:
        """The hash of the table's files at a version."""
        state = self.states.get(version)
        if state is None:
            return None
        return content_hash(name.removesuffix(SUFFIX) for name in state)


def place_of(recorded: Recorded, maker: Maker, target: str | None) -> TablePlace | None:
    """Where an execution's table is. Early records say it only by the files they name."""
    root = recorded.root_of(maker[0])
    if root is not None and target is not None:
        return recorded.places.table(root, target)
    for place in recorded.files.get(maker, ()):
        return split_place(place)[0]
    return None


def find_tables(recorded: Recorded) -> dict[TablePlace, ExpectedTable]:
    """Every table that some execution wrote, or found as it was."""
    tables: dict[TablePlace, ExpectedTable] = {}
    for maker, execution in recorded.executions.items():
        made = (*execution.adopted, *execution.commits)
        place = place_of(recorded, maker, execution.target)
        if place is None or not (made or execution.commit_version is not None):
            continue
        tables.setdefault(place, ExpectedTable()).add(maker, execution)
    return tables
