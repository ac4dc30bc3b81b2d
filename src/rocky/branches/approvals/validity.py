"""The validity of approvals: which statements of a branch count, and why the others do not.

Everything is refused that cannot be shown to be right, and each file for itself: one that is
damaged, forged or old spoils no other. A person counts once, by name and by key.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from pathlib import Path
from typing import Final

from rocky.branches.approvals.policy import Policy
from rocky.branches.approvals.ssh import NAMESPACE, Keygen
from rocky.branches.approvals.statements import (
    Kind,
    SignedStatement,
    UnusableFile,
    load_statements,
    printable,
)
from rocky.branches.state_hash import BranchState, find_changed_parts
from rocky.ledger.branch_records import ApprovalRecord, BranchRecord

CLOCK_SKEW: Final = timedelta(seconds=60)
"""How far the clocks of two machines may be apart."""
_SHOWN_CHANGES: Final = 5


class RejectionReason(StrEnum):
    """Why a statement does not count. The words are part of the output."""

    PARSE_ERROR = "parse_error"
    BAD_SIGNATURE = "bad_signature"
    NOT_ED25519 = "not_ed25519"
    UNKNOWN_KEY = "unknown_key"
    WRONG_KIND = "wrong_kind"
    WRONG_BRANCH = "wrong_branch"
    IN_FUTURE = "in_future"
    EXPIRED = "expired"
    STATE_HASH_MISMATCH = "state_hash_mismatch"
    OWN_CHANGE = "own_change"
    DUPLICATE_PERSON = "duplicate_person"


@dataclass(frozen=True, slots=True)
class ApprovalScope:
    """What a statement has to be about to count now. `authors` are those who made the change.

    `base_commit` is what the change is compared with; `author_keys` are the keys that its commits
    are signed with, where that was asked for.
    """

    record: BranchRecord
    state: BranchState
    policy: Policy
    authors: frozenset[str]
    now: datetime
    kind: Kind = Kind.APPROVAL
    base_commit: str | None = None
    author_keys: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class RejectedStatement:
    """A statement that does not count. `approver` is who it claims to be of, where that is said."""

    approval_id: str
    reason: RejectionReason
    detail: str
    approver: str | None = None


@dataclass(frozen=True, slots=True)
class CheckedApprovals:
    """The statements of a branch: those that count and those that do not, in order of signing."""

    accepted: tuple[ApprovalRecord, ...]
    rejected: tuple[RejectedStatement, ...]


def check_approvals(root: Path, question: ApprovalScope, keygen: Keygen) -> CheckedApprovals:
    """What is on disk for a branch, judged.

    Raises KeygenUnavailable, and OSError when the folder cannot be read.
    """
    rejected: list[RejectedStatement] = []
    good: list[SignedStatement] = []
    for each in load_statements(root, question.record.name):
        found = judge_statement(each, question, keygen)
        if found is not None:
            rejected.append(found)
        elif isinstance(each, SignedStatement):
            good.append(each)
    counted, twice = _count_people(good, question)
    rejected += twice
    return CheckedApprovals(
        tuple(approval_record(each, question.policy) for each in counted),
        tuple(sorted(rejected, key=lambda each: each.approval_id)),
    )


def find_shortfall(checked: CheckedApprovals, policy: Policy) -> str | None:
    """Why a promotion is refused; None when enough people have approved."""
    wanted, there = policy.min_approvers, len(checked.accepted)
    if not policy.required or there >= wanted:
        return None
    people = "person" if wanted == 1 else "people"
    said = f"{wanted} {people} must approve this state of the branch, and {there or 'nobody'} did"
    refused = [f"{each.approval_id}: {each.reason} ({each.detail})" for each in checked.rejected]
    return "\n".join([said, *refused])


def judge_statement(
    candidate: SignedStatement | UnusableFile, question: ApprovalScope, keygen: Keygen
) -> RejectedStatement | None:
    """Why a statement does not count by itself; None when it does."""
    if isinstance(candidate, UnusableFile):
        reason = (
            RejectionReason.BAD_SIGNATURE if candidate.is_unsigned else RejectionReason.PARSE_ERROR
        )
        return RejectedStatement(printable(candidate.name), reason, printable(candidate.detail))
    for rule in _RULES:
        found = rule(candidate, question, keygen)
        if found is not None:
            # What it says of itself goes to a terminal, and somebody else may have written it.
            name, (reason, detail) = printable(candidate.name), found
            return RejectedStatement(name, reason, printable(detail), candidate.statement.approver)
    return None


def approval_record(candidate: SignedStatement, policy: Policy) -> ApprovalRecord:
    """A statement that counts, as a promotion keeps it."""
    statement, key = candidate.statement, candidate.envelope.key
    return ApprovalRecord(
        statement.approval_id,
        statement.kind.value,
        statement.approver,
        key.fingerprint,
        candidate.text,
        candidate.signature,
        policy.signers.line_of(key.fingerprint, statement.approver),
    )


Refusal = tuple[RejectionReason, str] | None
Rule = Callable[[SignedStatement, ApprovalScope, Keygen], Refusal]


def _check_key(candidate: SignedStatement, question: ApprovalScope, keygen: Keygen) -> Refusal:  # noqa: ARG001 - the rules share one signature
    envelope = candidate.envelope
    if not envelope.key.is_ed25519:
        return RejectionReason.NOT_ED25519, f"the key is of kind `{envelope.key.kind}`, not Ed25519"
    if envelope.namespace != NAMESPACE:
        detail = f"it was signed for `{envelope.namespace}`, not for `{NAMESPACE}`"
        return RejectionReason.BAD_SIGNATURE, detail
    return None


def _check_signer(candidate: SignedStatement, question: ApprovalScope, keygen: Keygen) -> Refusal:
    detail = _find_signer_problem(candidate, question, keygen)
    if detail is None:
        return None
    # Whoever it claims to be of: a signature that is none says nothing about a key.
    if not keygen.check(candidate.text.encode(), candidate.signature).good:
        return RejectionReason.BAD_SIGNATURE, "the signature does not match this statement"
    return RejectionReason.UNKNOWN_KEY, detail


def _find_signer_problem(
    candidate: SignedStatement, question: ApprovalScope, keygen: Keygen
) -> str | None:
    statement, fingerprint = candidate.statement, candidate.envelope.key.fingerprint
    signers = question.policy.signers
    if not signers.files:
        return "there is no list of signers"
    text, name = candidate.text.encode(), statement.approver
    for file in signers.files:
        if not any(file.lines_of(fingerprint)):
            return f"the key {fingerprint} is not in {file.origin}"
        # A key must have been good when it signed, and must not have been given up since.
        for moment in sorted({statement.signed_at, question.now}):
            said = keygen.verify(text, candidate.signature, file.text, name, moment)
            if not said.good:
                why = f" ({said.detail})" if said.detail.startswith("line ") else ""
                return f"the key {fingerprint} may not sign for `{name}` by {file.origin}{why}"
    return None


def _check_name(candidate: SignedStatement, question: ApprovalScope, keygen: Keygen) -> Refusal:  # noqa: ARG001 - the rules share one signature
    own = candidate.statement.approval_id
    if candidate.name == own:
        return None
    return RejectionReason.PARSE_ERROR, f"it is the statement `{own}` under another name"


def _check_kind(candidate: SignedStatement, question: ApprovalScope, keygen: Keygen) -> Refusal:  # noqa: ARG001 - the rules share one signature
    kind = candidate.statement.kind
    if kind is question.kind:
        return None
    return RejectionReason.WRONG_KIND, f"it is of kind `{kind.value}`, not `{question.kind.value}`"


def _check_branch(candidate: SignedStatement, question: ApprovalScope, keygen: Keygen) -> Refusal:  # noqa: ARG001 - the rules share one signature
    statement, record = candidate.statement, question.record
    if statement.branch != record.name:
        return RejectionReason.WRONG_BRANCH, f"it is about the branch `{statement.branch}`"
    if statement.branch_created_at != record.created_at:
        return RejectionReason.WRONG_BRANCH, "it is about an earlier branch of this name"
    return None


def _check_time(candidate: SignedStatement, question: ApprovalScope, keygen: Keygen) -> Refusal:  # noqa: ARG001 - the rules share one signature
    signed_at = candidate.statement.signed_at
    if signed_at > question.now + CLOCK_SKEW:
        return (
            RejectionReason.IN_FUTURE,
            f"it says that it was signed at {signed_at:%Y-%m-%d %H:%M:%S} UTC",
        )
    age = (question.now - signed_at).total_seconds()
    if age > question.policy.max_age_seconds:
        limit = question.policy.max_age_seconds
        return RejectionReason.EXPIRED, f"it is {age:.0f} s old, and {limit} s is the limit"
    return None


def _check_state(candidate: SignedStatement, question: ApprovalScope, keygen: Keygen) -> Refusal:  # noqa: ARG001 - the rules share one signature
    statement, state = candidate.statement, question.state
    if statement.state_hash == state.hash:
        return None
    moved = find_changed_parts(statement.state, state.document)
    more = len(moved) - _SHOWN_CHANGES
    listed = ", ".join(moved[:_SHOWN_CHANGES]) + (f" and {more} more" if more > 0 else "")
    return RejectionReason.STATE_HASH_MISMATCH, f"changed since: {listed}"


def _check_author(candidate: SignedStatement, question: ApprovalScope, keygen: Keygen) -> Refusal:  # noqa: ARG001 - the rules share one signature
    if question.kind is not Kind.APPROVAL or question.policy.allow_author:
        return None
    approver = candidate.statement.approver
    if approver.casefold() in {each.casefold() for each in question.authors}:
        return RejectionReason.OWN_CHANGE, f"`{approver}` made the change"
    if candidate.envelope.key.fingerprint in question.author_keys:
        return RejectionReason.OWN_CHANGE, "the key has signed commits of the change"
    author = question.policy.signers.may_be(
        candidate.envelope.key.fingerprint, sorted(question.authors)
    )
    if author is not None:
        return RejectionReason.OWN_CHANGE, f"the key may also be of `{author}`, who made the change"
    return None


_RULES: Final[Sequence[Rule]] = (
    _check_key,
    _check_signer,
    _check_name,
    _check_kind,
    _check_branch,
    _check_time,
    _check_state,
    _check_author,
)
"""In this order: what a text says is nobody's word until its signature is right."""


def _count_people(
    good: Sequence[SignedStatement], question: ApprovalScope
) -> tuple[list[SignedStatement], list[RejectedStatement]]:
    """The newest statement of each person, and the others."""
    counted: list[SignedStatement] = []
    twice: list[RejectedStatement] = []
    for each in sorted(good, key=lambda one: (one.statement.signed_at, one.name), reverse=True):
        same = next((one for one in counted if _is_same_person(each, one, question.policy)), None)
        if same is None:
            counted.append(each)
            continue
        detail = f"`{same.name}` is of the same person and counts"
        twice.append(
            RejectedStatement(
                each.name, RejectionReason.DUPLICATE_PERSON, detail, each.statement.approver
            )
        )
    return counted[::-1], twice


def _is_same_person(one: SignedStatement, other: SignedStatement, policy: Policy) -> bool:
    names = one.statement.approver, other.statement.approver
    keys = one.envelope.key.fingerprint, other.envelope.key.fingerprint
    if names[0].casefold() == names[1].casefold() or keys[0] == keys[1]:
        return True
    # A key that may sign under the other's name as well.
    return any(policy.signers.may_be(key, names[1 - at : 2 - at]) for at, key in enumerate(keys))
