"""Signing a statement: made, signed, judged like any other, and only then stored.

A statement that would not count is never stored: who signs learns at once what whoever promotes
would have learned too late.
"""

from dataclasses import dataclass, replace
from pathlib import Path

from rocky.branches.approvals.checking import Question, judge, record_of
from rocky.branches.approvals.keygen import Keygen, SigningKey
from rocky.branches.approvals.statement import Kind, Statement
from rocky.branches.approvals.storing import Candidate, Stored, parse_candidate, store_candidate
from rocky.errors import ApprovalRefused
from rocky.ledger.branch_records import ApprovalRecord


@dataclass(frozen=True, slots=True)
class Signer:
    """Who signs, with which key, and from which commit. `message` is what they want to be said."""

    key: SigningKey
    principal: str
    message: str | None = None
    git_commit: str | None = None
    git_dirty: bool | None = None


@dataclass(frozen=True, slots=True)
class Signed:
    """A statement that counts: as a promotion keeps it, and where it was put."""

    record: ApprovalRecord
    statement: Statement
    files: Stored


def sign_statement(
    kind: Kind, question: Question, signer: Signer, root: Path, keygen: Keygen
) -> Signed:
    """Sign that a branch may be promoted as it is, or may break what it breaks.

    Raises ApprovalRefused when the statement would not count or no key signs it, and
    KeygenUnavailable.
    """
    question = replace(question, kind=kind)
    message = signer.message.strip() if signer.message is not None else ""
    if kind is Kind.ALLOW_BREAKING and not message:
        raise ApprovalRefused("breaking readers needs a reason: give it with `-m TEXT`")
    record, state = question.record, question.state
    statement = Statement(
        kind,
        record.name,
        record.created_at,
        state.hash,
        state.document,
        signer.principal,
        question.now,
        message or None,
        question.base_commit,
        signer.git_commit,
        signer.git_dirty,
    )
    candidate = _sign(statement, signer, keygen)
    found = judge(candidate, question, keygen)
    if found is not None:
        raise ApprovalRefused(
            f"the statement is not stored, because it would not count: {found.reason},"
            f" {found.detail}"
        )
    stored = store_candidate(root, candidate)
    return Signed(record_of(candidate, question.policy), statement, stored)


def _sign(statement: Statement, signer: Signer, keygen: Keygen) -> Candidate:
    text = statement.text.encode()
    signature = keygen.sign(signer.key, text)
    candidate = parse_candidate(statement.approval_id, text, signature)
    if not isinstance(candidate, Candidate):
        raise ApprovalRefused(f"what was signed is no statement: {candidate.detail}")
    return candidate
