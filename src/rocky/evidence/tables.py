"""Tables as the ledger knows them: where each is, which commits it should have, who made them.

A place is named as it was when it was recorded. The same warehouse may lie elsewhere now, so
everything is looked up by the recorded root and what is below it.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from rocky.evidence.hashes import content_hash
from rocky.evidence.recorded import Maker, Recorded, maker_of
from rocky.ledger.records import CommitRecord, ModelExecution

SUFFIX = ".parquet"
_BELOW_ROOT = 4
"""A file lies at `<root>/<catalog>/<schema>/<table>/<name>`."""


class TablePlace(NamedTuple):
    """A table by the root of its warehouse, as it was recorded, and its folder below that."""

    root: str
    prefix: str

    @property
    def name(self) -> str:
        return self.prefix.replace("/", ".")

    def place(self, path: str) -> str:
        return f"{self.root}/{self.prefix}/{path}"


class ExpectedCommit(NamedTuple):
    """A commit that was recorded, and who made it."""

    record: CommitRecord
    maker: Maker


@dataclass(frozen=True, slots=True)
class ExpectedTable:
    """What should be in a table's log, and the executions that say so."""

    commits: dict[int, ExpectedCommit] = field(default_factory=dict)
    executions: list[tuple[Maker, ModelExecution]] = field(default_factory=list)


class LiveFile(NamedTuple):
    """A file as a log has it."""

    size: int
    rows: int


State = Mapping[str, LiveFile]
"""The files of a table at one version, by path below the table."""


@dataclass(frozen=True, slots=True)
class History:
    """What a log that could be trusted says: the table at each version, and the rows of files.

    Empty where a commit is missing or changed: nothing can be told from such a log.
    """

    states: Mapping[int, State] = field(default_factory=dict)
    rows: Mapping[str, int] = field(default_factory=dict)

    def content(self, version: int) -> str | None:
        """The hash of the table's files at a version."""
        state = self.states.get(version)
        if state is None:
            return None
        return content_hash(path.removesuffix(SUFFIX) for path in state)


def split_place(place: str) -> tuple[TablePlace, str]:
    """The table that a recorded file belongs to, and the file's path below it."""
    parts = place.split("/")
    root, table = "/".join(parts[:-_BELOW_ROOT]), "/".join(parts[-_BELOW_ROOT:-1])
    return TablePlace(root, table), parts[-1]


def place_of(recorded: Recorded, maker: Maker, target: str | None) -> TablePlace | None:
    """Where an execution's table is. Early records say it only by the files they name."""
    for place in recorded.files.get(maker, ()):
        return split_place(place)[0]
    root = recorded.root_of(maker[0])
    if root is None or target is None:
        return None
    return TablePlace(root, target.replace(".", "/"))


def find_tables(recorded: Recorded) -> dict[TablePlace, ExpectedTable]:
    """Every table that some execution wrote, or found as it was."""
    tables: dict[TablePlace, ExpectedTable] = {}
    for maker, execution in recorded.executions.items():
        made = (*execution.adopted, *execution.commits)
        place = place_of(recorded, maker, execution.target)
        if place is None or not (made or execution.commit_version is not None):
            continue
        table = tables.setdefault(place, ExpectedTable())
        table.executions.append((maker, execution))
        for commit in made:
            owner = maker_of(commit.run_id or maker[0], commit.model_name or maker[1])
            table.commits[commit.version] = ExpectedCommit(commit, owner)
    return tables
