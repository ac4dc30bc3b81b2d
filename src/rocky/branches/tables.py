"""The tables of a branch, beside what production has, and what the change does to their readers.

Nothing is written. A table that cannot be read is raised, never taken for absent. In the verdict
whatever is not known counts as the worst: a change that cannot be compared is a breaking one.
"""

from collections.abc import Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

from rocky.analysis.changes.change import Change, Impact, ProjectDiff, TableDiff
from rocky.analysis.changes.columns import compare_columns
from rocky.analysis.changes.missing_plans import describe_uncompared
from rocky.language.datatypes.text import field_to_json
from rocky.ledger.branch_records import BranchRecord
from rocky.ledger.provenance import ProvenanceRecord, ReadRecord, content_hash
from rocky.ledger.run_records import InputRecord, ModelExecution
from rocky.project.models import Target
from rocky.store.delta.snapshot import Snapshot
from rocky.store.warehouse import Table, Warehouse


def read_inputs(
    execution: ModelExecution, made: ProvenanceRecord | None
) -> Iterable[InputRecord] | Iterable[ReadRecord]:
    """What was read; of a table that was reused, what its build had read."""
    if execution.inputs:
        return execution.inputs
    return () if made is None else _flat(made.reads)


def _flat(reads: Iterable[ReadRecord]) -> Iterator[ReadRecord]:
    for each in reads:
        if each.kind == "table":
            yield each
        yield from _flat(each.reads)


_READERS: Final = 16


@dataclass(frozen=True, slots=True)
class BranchTable:
    """One table of a branch. `base` is the parent's version that it was made of.

    `made_of`, `branch` and `production` are the table as it was taken, as the branch has it now and
    as its parent has it now; None where there is no table.
    """

    target: str
    table: Table
    parent_table: Table
    base: int | None
    made_of: Snapshot | None
    branch: Snapshot | None
    production: Snapshot | None

    @property
    def is_changed(self) -> bool:
        """Whether the branch has made something else of it."""
        return not same_content(self.made_of, self.branch)

    @property
    def has_moved(self) -> bool:
        """Whether the parent has made something else of it since it was taken."""
        return not same_content(self.made_of, self.production)

    @property
    def content(self) -> str | None:
        """The hash of the branch's files, as the ledger identifies a table."""
        return None if self.branch is None else table_content(self.branch)


@dataclass(frozen=True, slots=True)
class BranchView:
    """A branch and all its tables, by target."""

    record: BranchRecord
    warehouse: Warehouse
    parent: Warehouse
    tables: Mapping[str, BranchTable]

    @property
    def changed(self) -> tuple[BranchTable, ...]:
        return tuple(each for each in self.tables.values() if each.is_changed)


def load_branch_view(record: BranchRecord, warehouse: Warehouse, parent: Warehouse) -> BranchView:
    """All tables of a branch: those it was made of, and those it has made. Raises StoreUnreadable.

    A table that only its parent has, because it was made since, is none of the branch's.
    """
    with ThreadPoolExecutor(_READERS, thread_name_prefix="rocky-view") as pool:
        found = pool.map(lambda table: _load_table(record, table, parent), warehouse.tables())
        tables = {each.target.lower(): each for each in found}
        return BranchView(record, warehouse, parent, MappingProxyType(tables))


def _load_table(record: BranchRecord, table: Table, parent: Warehouse) -> BranchTable:
    base = record.tables.get(table.name)
    made_of = None if base is None else table.snapshot(record.at.get(table.name, 0))
    other = same_table_in(table, parent)
    return BranchTable(table.name, table, other, base, made_of, table.snapshot(), other.snapshot())


def same_table_in(table: Table, warehouse: Warehouse) -> Table:
    """The table of the same name in another warehouse."""
    return warehouse.table(Target(*table.prefix.split("/")))


def table_content(snapshot: Snapshot) -> str:
    """What identifies a table's rows: the hash of its sorted file hashes."""
    return content_hash(file.address for file in snapshot.files)


def same_content(one: Snapshot | None, other: Snapshot | None) -> bool:
    """Whether two snapshots, of one log or of two, are the same to readers and to later runs."""
    if one is None or other is None:
        return one is other
    return _content(one) == _content(other)


def _content(snapshot: Snapshot) -> tuple[object, ...]:
    files = [file.address for file in snapshot.files]
    # Types are compared by what they say: each log is read into types of its own.
    columns = [field_to_json(each) for each in snapshot.schema]
    return sorted(files), columns, snapshot.partition_columns, dict(snapshot.configuration)


UNKNOWN_IMPACT = "unknown"
"""The verdict on a change that could not be compared with anything."""


@dataclass(frozen=True, slots=True)
class ChangeVerdict:
    """What a change does to readers. `breaking` are the changes that break them, in words."""

    impact: str
    breaking: tuple[str, ...] = ()

    @property
    def is_breaking(self) -> bool:
        return self.impact in (Impact.BREAKING, UNKNOWN_IMPACT)


def judge_change(diff: ProjectDiff | None, view: BranchView) -> ChangeVerdict:
    """The verdict on a change: of its code, and of the tables that production would get.

    The tables decide about columns. Code is compared with a commit, and production may
    have been built from another: what its readers have today would go without being in the diff.
    """
    if diff is None:
        return ChangeVerdict(UNKNOWN_IMPACT, ("there is no git commit to compare the code with",))
    found = []
    told = set()
    for table, change in diff.changes:
        if change.impact is Impact.BREAKING:
            found.append(
                _describe_change(table.name if table is not None else "rocky.toml", change)
            )
            told |= {each.lower() for each in _targets(table)}
    for each in view.changed:
        if each.target.lower() not in told:
            found += [_describe_change(each.target, change) for change in _lost_columns(each)]
    impact = diff.impact.value if diff.impact is not None else "none"
    if found:
        impact = Impact.BREAKING.value
    if diff.uncompared:
        impact = impact if found else UNKNOWN_IMPACT
        found.append(describe_uncompared(diff.uncompared))
    return ChangeVerdict(impact, tuple(found))


def _lost_columns(table: BranchTable) -> Iterator[Change]:
    if table.production is None or table.branch is None:
        return
    for change in compare_columns(table.production.schema, table.branch.schema):
        if change.impact is Impact.BREAKING:
            yield change


def _targets(table: TableDiff | None) -> Iterator[str]:
    if table is not None:
        yield from (each for each in (table.target, table.base_target) if each is not None)


def _describe_change(where: str, change: Change) -> str:
    column = f".{change.column}" if change.column is not None else ""
    return f"{where}{column}: {change.rule}"
