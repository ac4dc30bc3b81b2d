"""The verdict on a change: what it does to those who read production's tables.

Whatever is not known counts as the worst: a change that cannot be compared is a breaking one.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from rocky.analysis.changes.change import Change, Impact, ProjectDiff, TableDiff
from rocky.analysis.changes.columns import compare_columns
from rocky.branches.tables import BranchTable, BranchView

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
        return ChangeVerdict(UNKNOWN_IMPACT, ("there is no commit to compare the code with",))
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
    return ChangeVerdict(Impact.BREAKING.value if found else impact, tuple(found))


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
