"""Signed statements that a branch may be promoted: made, and judged. Needs no Spark.

Nothing is stored that would not count.
"""

import json
import os
import shlex
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from rocky.branches.approvals.readiness import Candidate
from rocky.branches.approvals.signatures import SignedApproval, sign_statement
from rocky.branches.approvals.ssh import NAMESPACE
from rocky.branches.approvals.statements import Kind
from rocky.branches.approvals.validity import RejectedStatement, check_approvals, find_shortfall
from rocky.branches.tables import judge_change
from rocky.errors import ApprovalRefused
from rocky.ledger.branch_records import ApprovalRecord
from rocky.ledger.record import parse_time
from rocky.operations.branch.change import choose_signer, keygen_of, open_change
from rocky.operations.digest import Digested
from rocky.operations.report import same_fields
from rocky.operations.workspace import Workspace
from rocky.plan.arguments import Request
from rocky.project.configuration.blocks import AuthorProof


@dataclass(frozen=True, slots=True)
class ApproveRequest(Request):
    """Which branch, what to say with it, with which key, and by which name among the signers."""

    name: str
    message: str | None = None
    key: str | None = None
    principal: str | None = None


@dataclass(frozen=True, slots=True, repr=False)
class ApprovalReport(Digested):
    """A statement that was signed and stored: word for word, and how anybody checks it."""

    approval_id: str
    artifact: Mapping[str, Any]
    artifact_path: str
    signature_path: str
    state_hash: str
    key_fingerprint: str
    verify_command: str
    warnings: tuple[str, ...]


def approve(
    workspace: Workspace,
    request: ApproveRequest,
    before: Callable[[Candidate], None] = lambda _candidate: None,
) -> ApprovalReport:
    """Sign that a branch may be promoted as it is. `before` is shown what is about to be signed.

    Raises ApprovalRefused unless the branch's tables are what the present code makes, when nobody
    signs, and when the statement would not count; and as `open_change`.
    """
    workspace = workspace.on_production()
    keygen = keygen_of(workspace)
    with open_change(workspace, request.name, datetime.now(UTC)) as candidate:
        _refuse_unready(candidate)
        signer = choose_signer(
            workspace, candidate, request.key, request.principal, request.message
        )
        question = candidate.question
        for warning in question.policy.warnings:
            workspace.warn(warning)
        before(candidate)
        signed = sign_statement(Kind.APPROVAL, question, signer, candidate.root, keygen)
        return ApprovalReport(
            signed.record.approval_id,
            json.loads(signed.record.statement),
            os.path.relpath(signed.files.statement),
            os.path.relpath(signed.files.signature),
            question.state.hash,
            signed.record.key_fingerprint,
            _verify_command(signed, candidate.root / question.policy.signers.path),
            question.policy.warnings,
        )


def _refuse_unready(candidate: Candidate) -> None:
    """Raises ApprovalRefused unless the branch's tables are what the present code makes."""
    if candidate.unready:
        raise ApprovalRefused(
            "\n".join(
                [
                    "the tables of the branch do not match the present code:",
                    *(f"  {each}" for each in candidate.unready),
                    f"`rocky run --branch {candidate.record.name}` builds them",
                ]
            )
        )


def _verify_command(signed: SignedApproval, signers: Path) -> str:
    """A line for a shell that checks a signature without Rocky."""
    words = ["ssh-keygen", "-Y", "verify", "-f", os.path.relpath(signers)]
    words += ["-I", signed.record.approver, "-n", NAMESPACE]
    words += ["-s", os.path.relpath(signed.files.signature)]
    return f"{shlex.join(words)} < {shlex.quote(os.path.relpath(signed.files.statement))}"


@dataclass(frozen=True, slots=True)
class ApprovalsRequest(Request):
    """Which branch."""

    name: str


@dataclass(frozen=True, slots=True)
class PolicyReport:
    """Who has to approve: how many, how long that counts, and whether authors may.

    `author_proof` says by what authors are known; `none` is what commits say, which is unproven.
    """

    required: bool
    min_approvers: int
    max_age_seconds: int
    allow_author: bool
    author_proof: AuthorProof


@dataclass(frozen=True, slots=True)
class AcceptedApproval:
    """An approval that counts. `allowed_signer` is the line that lists its key."""

    approval_id: str
    approver: str
    key_fingerprint: str
    signed_at: datetime
    allowed_signer: str
    message: str | None = None


@dataclass(frozen=True, slots=True, repr=False)
class ApprovalsReport(Digested):
    """All statements about a branch, and whether those that count are enough.

    `breaking` are the changes that break readers, `unready` the tables that are not what the
    present code makes: a promotion refuses both, and the first unless somebody signs for it.
    """

    branch: str
    state_hash: str
    verdict: str
    policy: PolicyReport
    satisfied: bool
    accepted: tuple[AcceptedApproval, ...]
    rejected: tuple[RejectedStatement, ...]
    warnings: tuple[str, ...]
    breaking: tuple[str, ...] = ()
    unready: tuple[str, ...] = ()


def approvals(workspace: Workspace, request: ApprovalsRequest) -> ApprovalsReport:
    """Which approvals of a branch count now, and why the others do not."""
    workspace = workspace.on_production()
    with open_change(workspace, request.name, datetime.now(UTC)) as candidate:
        question = candidate.question
        checked = check_approvals(candidate.root, question, keygen_of(workspace))
        for warning in question.policy.warnings:
            workspace.warn(warning)
        return ApprovalsReport(
            question.record.name,
            question.state.hash,
            question.state.verdict,
            PolicyReport(**same_fields(PolicyReport, question.policy)),
            find_shortfall(checked, question.policy) is None,
            tuple(map(_accepted, checked.accepted)),
            checked.rejected,
            question.policy.warnings,
            judge_change(candidate.diff, candidate.view).breaking,
            candidate.unready,
        )


def _accepted(record: ApprovalRecord) -> AcceptedApproval:
    said = json.loads(record.statement)
    return AcceptedApproval(
        record.approval_id,
        record.approver,
        record.key_fingerprint,
        parse_time(said["signed_at"]),
        record.allowed_signer,
        said.get("message"),
    )
