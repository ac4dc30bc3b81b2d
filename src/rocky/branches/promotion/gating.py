"""The gate: whether a branch may be promoted, from what was found out about it. Pure.

Whatever is not known counts as the worst: a change that cannot be compared is a breaking one.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from rocky.branches.approvals.checking import Checked, Question, find_shortfall
from rocky.branches.view import BranchTable, BranchView
from rocky.changes.change import Change, Impact
from rocky.changes.columns import compare_columns
from rocky.diff.project_diff import ProjectDiff, TableDiff
from rocky.errors import PromotionRefused
from rocky.ledger.branch_records import PRODUCTION, ApprovalRecord

UNKNOWN = "unknown"
"""The verdict on a change that could not be compared with anything."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """What a change does to readers. `breaking` are the changes that break them, in words."""

    impact: str
    breaking: tuple[str, ...] = ()

    @property
    def is_breaking(self) -> bool:
        return self.impact in (Impact.BREAKING, UNKNOWN)


def judge_change(diff: ProjectDiff | None, view: BranchView) -> Verdict:
    """The verdict on a change: of its code, and of the tables that production would get.

    The tables have the last word about columns. Code is compared with a commit, and production may
    have been built from another: what its readers have today would go without being in the diff.
    """
    if diff is None:
        return Verdict(UNKNOWN, ("there is no commit to compare the code with",))
    found = []
    told = set()
    for table, change in diff.changes:
        if change.impact is Impact.BREAKING:
            found.append(_line(table.name if table is not None else "rocky.toml", change))
            told |= {each.lower() for each in _targets(table)}
    for each in view.changed:
        if each.target.lower() not in told:
            found += [_line(each.target, change) for change in _lost_columns(each)]
    impact = diff.impact.value if diff.impact is not None else "none"
    return Verdict(Impact.BREAKING.value if found else impact, tuple(found))


def _lost_columns(table: BranchTable) -> Iterator[Change]:
    if table.production is None or table.branch is None:
        return
    for change in compare_columns(table.production.schema, table.branch.schema):
        if change.impact is Impact.BREAKING:
            yield change


def _targets(table: TableDiff | None) -> Iterator[str]:
    if table is not None:
        yield from (each for each in (table.target, table.base_target) if each is not None)


def _line(where: str, change: Change) -> str:
    column = f".{change.column}" if change.column is not None else ""
    return f"{where}{column}: {change.rule}"


def refuse_branch(view: BranchView, unready: Sequence[str]) -> None:
    """Raises PromotionRefused for a branch that is no candidate, whoever approves of it."""
    record = view.record
    if record.parent != PRODUCTION:
        raise PromotionRefused(
            f"branch `{record.name}` was made of branch `{record.parent}`, not of production:"
            " only branches of production are promoted"
        )
    if unready:
        more = f" (and {len(unready) - 1} more)" if len(unready) > 1 else ""
        raise PromotionRefused(
            f"the tables of branch `{record.name}` are not what the code makes: {unready[0]}{more};"
            f" `rocky run --branch {record.name}` builds them"
        )


def refuse_unapproved(checked: Checked, question: Question) -> None:
    """Raises PromotionRefused unless enough people have approved of exactly this."""
    shortfall = find_shortfall(checked, question.policy)
    if shortfall is not None:
        name = question.record.name
        raise PromotionRefused(f"{shortfall}\n`rocky branch approve {name}` signs it")


def refuse_breaking(verdict: Verdict, allowed: Sequence[ApprovalRecord]) -> None:
    """Raises PromotionRefused for a change that breaks readers and that nobody has allowed to."""
    if not verdict.is_breaking or allowed:
        return
    shown = "; ".join(verdict.breaking[:_SHOWN])
    more = f" (and {len(verdict.breaking) - _SHOWN} more)" if len(verdict.breaking) > _SHOWN else ""
    raise PromotionRefused(
        f"the change breaks readers: {shown}{more}; `--allow-breaking -m REASON` promotes it all"
        " the same, and signs the reason"
    )


_SHOWN = 5
