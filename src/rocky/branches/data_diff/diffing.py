"""Diffing: the tables of a branch beside production's, or beside what the branch was made of."""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack
from functools import partial
from typing import Literal, NamedTuple

from rocky.branches.data_diff.comparing import Comparison, State, compare_states
from rocky.branches.data_diff.difference import DataDiff, TableDifference
from rocky.branches.data_diff.row_keys import choose_key
from rocky.branches.view import BranchTable, BranchView
from rocky.datatypes.text import field_to_json
from rocky.project.models import ModelFile
from rocky.run.engine import Engine
from rocky.store.snapshot import Snapshot

OtherSide = Literal["production", "base"]


class Wanted(NamedTuple):
    """What to compare. `targets` are full names in lower case, all tables without any."""

    to: OtherSide = "production"
    targets: Collection[str] = ()
    key: Sequence[str] = ()
    sample: int = 5


def diff_tables(
    view: BranchView,
    models: Iterable[ModelFile],
    wanted: Wanted,
    open_engine: Callable[[], AbstractContextManager[Engine]],
) -> DataDiff:
    """Every table whose rows or columns differ. The engine is opened for the first that needs it.

    Raises NothingSelected, StoreUnreadable, and what opening an engine raises.
    """
    by_target = {each.target.full_name.lower(): each for each in models}
    found: list[TableDifference] = []
    same = 0
    with ExitStack() as stack:
        opened: list[Engine] = []

        def engine() -> Engine:
            if not opened:
                opened.append(stack.enter_context(open_engine()))
            return opened[0]

        for target, table in sorted(view.tables.items()):
            if wanted.targets and target not in wanted.targets:
                continue
            comparison = _comparison(table, by_target, wanted)
            if comparison is None:
                same += 1
            else:
                found.append(compare_states(comparison, engine))
    return DataDiff(view.record.name, view.record.parent, wanted.to, tuple(found), same)


def _comparison(
    table: BranchTable, models: Mapping[str, ModelFile], wanted: Wanted
) -> Comparison | None:
    """The two states of a table; None where they hold the same rows and columns."""
    after = table.branch
    if wanted.to == "production":
        other, before = table.parent_table, table.production
    else:
        other, before = table.table, table.made_of
    if after is None or (before is not None and _same_rows(before, after)):
        return None
    model = models.get(table.target.lower())
    return Comparison(
        table.target,
        None if before is None else State(other, before),
        State(table.table, after),
        partial(choose_key, table.target, model, wanted.key),
        wanted.sample,
    )


def _same_rows(one: Snapshot, other: Snapshot) -> bool:
    """Whether two states have the same files and columns; properties hold no rows."""
    return _held(one) == _held(other)


def _held(snapshot: Snapshot) -> tuple[list[str], list[object]]:
    return sorted(file.address for file in snapshot.files), [
        field_to_json(each) for each in snapshot.schema
    ]
