"""Records of the page: an index of all tables, which is read at once, and the details of each.

Tables are named by their place in `PageIndex.tables`, because ten thousand of them and their
columns speak of each other often.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal, NamedTuple

from rocky.ledger.record import RunId
from rocky.ledger.run_records import RunStatus
from rocky.operations.graph.lineage_report import Kind
from rocky.operations.graph.list_report import ListedPipeline
from rocky.operations.report import CodeText

FORMAT = 1
"""Raised when scripts of an older form could not show the records."""
Severity = Literal["error", "warning", "info"]
TestResult = Literal["passed", "warned", "failed"]


class ColumnLink(NamedTuple):
    """A column of a table, and how it takes part."""

    table: int
    column: str
    how: str


@dataclass(frozen=True, slots=True, kw_only=True)
class PromisedColumn:
    """What a contract says of a column; what it leaves open is absent."""

    type: str | None = None
    nullable: bool | None = None
    required: bool = False
    protected: bool = False
    optional: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class PageColumn:
    """A column: `sources` are what its values are made from, `readers` what is made from them.

    `classification` is its tags, `tagged_at` the column where the first was declared, if not here.
    """

    name: str
    type: str
    nullable: bool
    description: str | None = None
    classification: str | None = None
    tagged_at: str | None = None
    promise: PromisedColumn | None = None
    sources: tuple[ColumnLink, ...] = ()
    readers: tuple[ColumnLink, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class PageContract:
    """The rules of a contract over all columns, and promised columns that are not there."""

    path: str
    strict: bool
    no_new_nullable: bool
    absent: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class PageTest:
    """A test that is declared, and how it went when it last ran and that was recorded.

    `place` is the file and line that declare it; without a line it is inherited.
    """

    name: str
    kind: str
    place: str | None = None
    severity: Literal["error", "warning"] = "error"
    column: str | None = None
    rule: str | None = None
    description: str | None = None
    passed: bool | None = None

    @property
    def result(self) -> TestResult | None:
        """How it went in a word: one that only warns does not fail."""
        if self.passed is None:
            return None
        return "passed" if self.passed else "failed" if self.severity == "error" else "warned"


@dataclass(frozen=True, slots=True, kw_only=True)
class PageFinding:
    """A finding of the compiler. `table` is absent where it is about no table."""

    code: CodeText
    name: str
    severity: Severity
    message: str
    place: str
    help: str | None = None
    table: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class PageExecution:
    """What a run did with a table. Why it failed is not said here: that may quote a row."""

    run_id: RunId
    outcome: str
    started_at: datetime
    duration_ms: int
    rows: int | None = None
    files: int | None = None
    bytes_written: int | None = None
    cost_usd: float | None = None
    reason: str | None = None
    failure_kind: str | None = None


class PastExecution(NamedTuple):
    """An execution in short: `run` is a place in `PageIndex.runs`."""

    run: int
    outcome: str
    duration_ms: int


@dataclass(frozen=True, slots=True, kw_only=True)
class PageCode:
    """The text a model is made by, as it is written; `line` is where it begins in its file."""

    text: str
    language: Literal["sql", "rocky", "python"]
    line: int


class UnknownColumns(NamedTuple):
    """A table whose columns nobody knows, and the command that makes them known."""

    name: str
    command: str


@dataclass(frozen=True, slots=True, kw_only=True)
class TableDetails:
    """All that is shown of one table besides its entry in the index.

    `built` is the execution whose result `last` reused, where it did. `unknown` are tables of
    unknown columns that it is made from, or itself.
    """

    columns: tuple[PageColumn, ...]
    complete: bool
    unknown: tuple[UnknownColumns, ...] = ()
    rows_by: tuple[ColumnLink, ...] = ()
    contract: PageContract | None = None
    tests: tuple[PageTest, ...] = ()
    code: PageCode | None = None
    settings: Mapping[str, str] | None = None
    meta: Mapping[str, Any] | None = None
    determinism: tuple[str, ...] = ()
    findings: tuple[PageFinding, ...] = ()
    last: PageExecution | None = None
    built: PageExecution | None = None
    recent: tuple[PastExecution, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class PagePart:
    """The details of tables that are fetched together, by their places."""

    tables: Mapping[str, TableDetails]


@dataclass(frozen=True, slots=True, kw_only=True)
class PageTable:
    """A table as lists, searches and the graph need it.

    `part` is the file that has its details, `reads` are tables, `outcome` is of its last execution.
    `tests_passed`, `tests_warned` and `tests_failed` count its tests by how each was last recorded;
    `tests_went` is that of each of them, where any was.
    """

    name: str
    kind: Kind
    part: int
    path: str
    columns: tuple[str, ...]
    reads: tuple[int, ...] = ()
    target: str | None = None
    strategy: str | None = None
    pipeline: str | None = None
    description: str | None = None
    owner: str | None = None
    tags: Mapping[str, str] | None = None
    column_descriptions: Mapping[str, str] | None = None
    classified: Mapping[str, str] | None = None
    tests: tuple[str, ...] = ()
    tests_passed: int | None = None
    tests_warned: int | None = None
    tests_failed: int | None = None
    tests_went: tuple[TestResult | None, ...] = ()
    errors: int | None = None
    warnings: int | None = None
    outcome: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class PageRun:
    """A run; of its models only how many ended in which way."""

    run_id: RunId
    status: RunStatus
    died: bool
    started_at: datetime
    duration_ms: int | None
    trigger: str
    pipeline: str | None = None
    git_commit: str | None = None
    outcomes: Mapping[str, int]
    checks_failed: int
    checks_warned: int | None = None
    cost_usd: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class PageIndex:
    """The whole project: `tables` are sources and seeds, then models in the order they run.

    `overlays` are those that a site without a server brings along.
    """

    format: int
    project: str
    branch: str | None = None
    rocky: str
    parts: int
    tables: tuple[PageTable, ...]
    pipelines: tuple[ListedPipeline, ...]
    runs: tuple[PageRun, ...]
    findings: tuple[PageFinding, ...]
    overlays: tuple[str, ...] = ()
