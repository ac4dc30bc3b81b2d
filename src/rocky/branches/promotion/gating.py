"""The gate: whether a branch may be promoted, from what was found out about it. Pure.

Whatever is not known counts as the worst: a change that cannot be compared is a breaking one.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from rocky.branches.approvals.checking import Checked, Question, find_shortfall
from rocky.branches.view import BranchView
from rocky.changes.change import Impact
from rocky.diff.project_diff import ProjectDiff
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


def judge_diff(diff: ProjectDiff | None) -> Verdict:
    """The verdict on a change."""
    if diff is None:
        return Verdict(UNKNOWN, ("there is no commit to compare the code with",))
    found = []
    for table, change in diff.changes:
        if change.impact is Impact.BREAKING:
            where = table.name if table is not None else "rocky.toml"
            column = f".{change.column}" if change.column is not None else ""
            found.append(f"{where}{column}: {change.rule}")
    return Verdict(diff.impact.value if diff.impact is not None else "none", tuple(found))


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
        raise PromotionRefused(shortfall)


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
