"""Signatures of statements: the key and the name found, the statement signed, and then stored.

A key is named by a file or by the text of its public half, as git's `user.signingkey` does; no
private key is read here. A new statement is judged like any other, and one that would not count is
never stored: who signs learns at once what whoever promotes would have learned too late.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from rocky.branches.approvals.policy import Signers
from rocky.branches.approvals.ssh import Keygen, KeyLocation, SigningKey
from rocky.branches.approvals.statements import (
    Kind,
    SignedStatement,
    Statement,
    StatementFiles,
    is_principal,
    parse_signed_statement,
    store_statement,
)
from rocky.branches.approvals.validity import ApprovalScope, approval_record, judge_statement
from rocky.errors import ApprovalRefused
from rocky.ledger.branch_records import ApprovalRecord

KEY_VARIABLE: Final = "ROCKY_SIGNING_KEY"
_DEFAULT_PATH: Final = ".ssh/id_ed25519"
_LITERAL_PREFIX: Final = "key::"


@dataclass(frozen=True, slots=True)
class KeyChoices:
    """Where a key may be named: by option, by variable, in git's settings, at its usual place."""

    option: str | None = None
    variable: str | None = None
    git: str | None = None
    home: Path | None = None


def find_key(choices: KeyChoices, keygen: Keygen) -> SigningKey:
    """The first key that is named. Raises ApprovalRefused."""
    for named, by in _find_named_key(choices):
        place = _locate_key(named, choices.home)
        if place.path is not None and not place.path.exists():
            raise ApprovalRefused(f"there is no key `{place}`, which {by} names")
        return keygen.describe(place)
    if choices.home is not None:
        usual = choices.home / _DEFAULT_PATH
        for path in (usual, usual.with_name(f"{usual.name}.pub")):
            if path.exists():
                return keygen.describe(KeyLocation(path))
    raise ApprovalRefused(
        f"there is no key to sign with: name one with `--key FILE`, `{KEY_VARIABLE}` or git's"
        " `user.signingkey`, or make one with `ssh-keygen -t ed25519`"
    )


def find_principal(key: SigningKey, signers: Signers, asked: str | None, email: str | None) -> str:
    """Under which name a key signs: as asked, git's address, or the one it has in the list.

    Raises ApprovalRefused when the key is not in the list, or is there under several names.
    """
    if not signers.files:
        raise ApprovalRefused(
            "there is no list of those who may approve: put a file `allowed_signers` beside"
            " `rocky.toml`, with a line `EMAIL PUBLIC-KEY` for each of them"
        )
    if not signers.is_listed(key.fingerprint):
        raise ApprovalRefused(
            f"the key `{key.place}` ({key.fingerprint}) is not in {signers.origin};"
            " a line `EMAIL PUBLIC-KEY` puts it there"
        )
    if asked is not None:
        if not is_principal(asked):
            raise ApprovalRefused(f"`{asked}` is not the name of a signer")
        return asked
    if email is not None and is_principal(email):
        listed = signers.may_be(key.fingerprint, [email])
        if listed is not None:
            return listed
    only = signers.sole_principals(key.fingerprint)
    if len(only) == 1:
        return only[0]
    raise ApprovalRefused(
        f"the key `{key.place}` has several names in {signers.origin}: choose with `--as NAME`"
    )


def _find_named_key(choices: KeyChoices) -> Iterator[tuple[str, str]]:
    places = (
        (choices.option, "`--key`"),
        (choices.variable, f"`{KEY_VARIABLE}`"),
        (choices.git, "git's `user.signingkey`"),
    )
    return ((named, by) for named, by in places if named)


def _locate_key(named: str, home: Path | None) -> KeyLocation:
    if named.startswith((_LITERAL_PREFIX, "ssh-", "sk-ssh-")):
        return KeyLocation(literal=named.removeprefix(_LITERAL_PREFIX).strip())
    if named.startswith("~/") and home is not None:
        return KeyLocation(home / named[2:])
    return KeyLocation(Path(named))


@dataclass(frozen=True, slots=True)
class Signer:
    """Who signs, with which key, and from which commit. `message` is what they want to be said."""

    key: SigningKey
    principal: str
    message: str | None = None
    git_commit: str | None = None
    git_dirty: bool | None = None


@dataclass(frozen=True, slots=True)
class SignedApproval:
    """A statement that counts: as a promotion keeps it, and where it was put."""

    record: ApprovalRecord
    statement: Statement
    files: StatementFiles


def sign_statement(
    kind: Kind, question: ApprovalScope, signer: Signer, root: Path, keygen: Keygen
) -> SignedApproval:
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
    found = judge_statement(candidate, question, keygen)
    if found is not None:
        raise ApprovalRefused(
            f"the approval was not stored, because it would not count: {found.reason},"
            f" {found.detail}"
        )
    stored = store_statement(root, candidate)
    return SignedApproval(approval_record(candidate, question.policy), statement, stored)


def _sign(statement: Statement, signer: Signer, keygen: Keygen) -> SignedStatement:
    text = statement.text.encode()
    signature = keygen.sign(signer.key, text)
    candidate = parse_signed_statement(statement.approval_id, text, signature)
    if not isinstance(candidate, SignedStatement):
        raise ApprovalRefused(f"the signed text is not an approval: {candidate.detail}")
    return candidate
