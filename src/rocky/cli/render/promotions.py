"""Promotions, reverts and recoveries, as text for people and as JSON documents."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from rocky.branches.approvals.validity import RejectedStatement
from rocky.branches.promotion.journal import RecoveredPromotion
from rocky.cli.render.compilation import counted
from rocky.cli.render.tables import render_table
from rocky.cli.render.units import NOTHING, format_moment
from rocky.ledger.branch_records import PromotionRecord


def promotion_document(
    promotion: PromotionRecord, rejected: Iterable[RejectedStatement]
) -> dict[str, Any]:
    """What `rocky branch promote -o json` prints."""
    return {
        "promotion": promotion.to_json(),
        "approvals_rejected": [
            {"approval_id": each.approval_id, "reason": str(each.reason), "detail": each.detail}
            for each in rejected
        ],
        "success": True,
    }


def render_promotion(promotion: PromotionRecord) -> str:
    """What was moved, from which version to which, on whose approval."""
    heads = ("TABLE", "FROM", "TO", "BUILT BY")
    rows = [
        (
            each.target,
            NOTHING if each.from_version is None else str(each.from_version),
            str(each.to_version),
            each.built_by or NOTHING,
        )
        for each in promotion.tables
    ]
    lines = [render_table(heads, rows, {1, 2})]
    lines += [f"{target}: {why}" for target, why in promotion.left.items()]
    verb = "promoted" if promotion.kind == "promote" else "moved back"
    lines.append(f"{counted(len(promotion.tables), 'table')} {verb} as {promotion.run_id}")
    people = _approvers(promotion)
    if people:
        lines.append(f"approved by {people}")
    if promotion.kind == "promote":
        lines.append(f"to go back: rocky branch revert {promotion.run_id}")
    else:
        lines.append("the code stays as it is: take the change back in git too")
        lines.append(f"to take it back: rocky branch revert {promotion.run_id}")
    return "\n".join(lines)


def _approvers(promotion: PromotionRecord) -> str:
    """Who approved; who only gave a reason for breaking readers did not."""
    return ", ".join(each.approver for each in promotion.approvals if each.kind == "approval")


def recovered_document(found: Sequence[RecoveredPromotion]) -> dict[str, Any]:
    """What `rocky branch recover -o json` prints."""
    return {
        "recovered": [
            {
                "promotion": each.run_id,
                "branch": each.branch,
                "outcome": "undone" if each.undone is not None else "finished",
                **({"recorded_as": each.record.run_id} if each.record is not None else {}),
                **({"reason": each.undone} if each.undone is not None else {}),
            }
            for each in found
        ]
    }


def render_recovered(found: Sequence[RecoveredPromotion]) -> str:
    if not found:
        return "nothing was interrupted"
    return "\n".join(
        f"{each.run_id} of branch {each.branch}: undone, {each.undone}"
        if each.undone is not None
        else f"{each.run_id} of branch {each.branch}: finished"
        + (f" by {each.record.run_id}" if each.record is not None else "")
        for each in found
    )


def render_forgotten(run_id: str, moved: Mapping[str, bool]) -> str:
    """Which tables an interrupted promotion had moved when it was given up."""
    lines = [f"{target}: {'moved' if is_so else 'not moved'}" for target, is_so in moved.items()]
    return "\n".join([*lines, f"{run_id} is forgotten; the tables are as they are"])


def render_promotions(promotions: Sequence[PromotionRecord]) -> str:
    """All promotions and reverts, oldest first."""
    if not promotions:
        return "nothing was promoted yet"
    heads = ("PROMOTION", "KIND", "BRANCH", "AT", "BY", "TABLES", "VERDICT", "APPROVED BY")
    rows = [
        (
            each.run_id,
            each.kind,
            each.branch,
            format_moment(each.at),
            each.by,
            str(len(each.tables)),
            each.verdict or NOTHING,
            _approvers(each) or NOTHING,
        )
        for each in promotions
    ]
    return render_table(heads, rows, {5})
