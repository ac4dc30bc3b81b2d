"""Approvals, as text for people and as JSON documents.

Names and details are safe to print: they are checked, or escaped, where statements are read.
"""

import json
import os
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from rocky.analysis.changes.change import Impact, ProjectDiff
from rocky.branches.approvals.signatures import SignedApproval
from rocky.branches.approvals.ssh import NAMESPACE
from rocky.branches.approvals.validity import ApprovalScope, CheckedApprovals, find_shortfall
from rocky.branches.state_hash import BranchState
from rocky.cli.render.compilation import counted
from rocky.cli.render.tables import render_table
from rocky.ledger.branch_records import ApprovalRecord

_BREAKING_SHOWN = 20


def render_subject(state: BranchState, diff: ProjectDiff | None) -> str:
    """What is about to be approved."""
    lines = [f"verdict  {describe_verdict(state)}"]
    breaking = list(_breaking(diff))
    lines += [f"breaks   {each}" for each in breaking[:_BREAKING_SHOWN]]
    if len(breaking) > _BREAKING_SHOWN:
        lines.append(f"breaks   and {len(breaking) - _BREAKING_SHOWN} more: `rocky ci-diff`")
    for target, table in state.document["tables"].items():
        lines.append(f"table    {target}  {_describe_table(table)}")
    if not state.document["tables"]:
        lines.append("table    none differs from what the branch was made of")
    return "\n".join(lines)


def describe_verdict(state: BranchState) -> str:
    """The verdict in words: the worst impact, and how many there are of each."""
    counts = state.document["verdict"].get("counts", {})
    if state.verdict == "unknown":
        return "unknown: there is no commit to compare with"
    if not counts:
        return "no change of the code"
    listed = ", ".join(f"{counts[each.value]} {each.value}" for each in Impact if each in counts)
    return f"{state.verdict} ({listed})"


def render_signed(signed: SignedApproval, question: ApprovalScope, root: Path) -> str:
    """What was signed, where it is, and how anybody checks it."""
    record, files = signed.record, signed.files
    return "\n".join(
        [
            f"signed   by {record.approver} with {record.key_fingerprint}",
            f"state    {question.state.hash}",
            f"file     {_from_here(files.statement)}",
            f"check    {verify_command(signed, question, root)}",
        ]
    )


def verify_command(signed: SignedApproval, question: ApprovalScope, root: Path) -> str:
    """A line for a shell that checks a signature without Rocky."""
    signers = root / question.policy.signers.path
    words = ["ssh-keygen", "-Y", "verify", "-f", _from_here(signers)]
    words += ["-I", signed.record.approver, "-n", NAMESPACE]
    words += ["-s", _from_here(signed.files.signature)]
    return f"{shlex.join(words)} < {shlex.quote(_from_here(signed.files.statement))}"


def signed_document(signed: SignedApproval, question: ApprovalScope, root: Path) -> dict[str, Any]:
    """What `rocky branch approve -o json` prints."""
    return {
        "approval_id": signed.record.approval_id,
        "artifact": json.loads(signed.record.statement),
        "artifact_path": _from_here(signed.files.statement),
        "signature_path": _from_here(signed.files.signature),
        "state_hash": question.state.hash,
        "key_fingerprint": signed.record.key_fingerprint,
        "verify_command": verify_command(signed, question, root),
        "warnings": list(question.policy.warnings),
    }


def render_checked(checked: CheckedApprovals, question: ApprovalScope) -> str:
    """Every approval of a branch, one a line, and whether they are enough."""
    rows = [(each.approval_id, each.approver, "counts", "") for each in checked.accepted]
    rows += [
        (each.approval_id, each.approver or "-", each.reason, each.detail)
        for each in checked.rejected
    ]
    lines = (
        [render_table(("APPROVAL", "BY", "VERDICT", "WHY"), sorted(rows), set())] if rows else []
    )
    return "\n".join([*lines, describe_standing(checked, question)])


def describe_standing(checked: CheckedApprovals, question: ApprovalScope) -> str:
    """Whether enough people have approved."""
    policy, there = question.policy, len(checked.accepted)
    if not policy.required:
        verb = "counts" if there == 1 else "count"
        return f"{counted(there, 'approval')} {verb}; none is required (`[branch.approval]`)"
    enough = "enough" if find_shortfall(checked, policy) is None else "not enough"
    return f"{there} of {counted(policy.min_approvers, 'approval')}: {enough}"


def checked_document(checked: CheckedApprovals, question: ApprovalScope) -> dict[str, Any]:
    """What `rocky branch approvals -o json` prints."""
    policy = question.policy
    return {
        "branch": question.record.name,
        "state_hash": question.state.hash,
        "verdict": question.state.verdict,
        "policy": {
            "required": policy.required,
            "min_approvers": policy.min_approvers,
            "max_age_seconds": policy.max_age_seconds,
            "allow_author": policy.allow_author,
        },
        "satisfied": find_shortfall(checked, policy) is None,
        "accepted": [_accepted(each) for each in checked.accepted],
        "rejected": [
            {
                "approval_id": each.approval_id,
                "reason": each.reason.value,
                "detail": each.detail,
                **({"approver": each.approver} if each.approver is not None else {}),
            }
            for each in checked.rejected
        ],
        "warnings": list(policy.warnings),
    }


def _accepted(record: ApprovalRecord) -> dict[str, Any]:
    said = json.loads(record.statement)
    document = {
        "approval_id": record.approval_id,
        "approver": record.approver,
        "key_fingerprint": record.key_fingerprint,
        "signed_at": said["signed_at"],
        "allowed_signer": record.allowed_signer,
    }
    return document | ({"message": said["message"]} if "message" in said else {})


def _breaking(diff: ProjectDiff | None) -> Iterator[str]:
    for table, change in diff.changes if diff is not None else ():
        if change.impact is Impact.BREAKING:
            where = [each for each in (table.name if table else None, change.column) if each]
            yield f"{change.rule} {'.'.join(where)}".strip()


def _describe_table(table: dict[str, Any]) -> str:
    if "content" not in table:
        return "removed"
    made = f"made of version {table['base_version']}" if "base_version" in table else "new"
    return f"{counted(table['rows'], 'row')}, {made}, {table['content'][:12]}"


def _from_here(path: Path) -> str:
    return os.path.relpath(path)
