"""Statements: what somebody signs, as one line of canonical JSON, and where it is kept.

The file is the statement to the byte, without a line break at its end: its BLAKE3 is the
statement's hash and its bytes are what was signed. A text that says the same in other bytes is not
accepted, so nobody can be shown one thing and a machine another. It is
`.rocky/approvals/BRANCH/ID.json`, with the signature in `ID.json.sig`, which is put there first:
whatever was cut short is a lone signature, which nobody looks at.
"""

import json
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from pathlib import Path
from typing import Any, Final

from rocky.branches.approvals.ssh import Envelope, NotASignature, parse_signature
from rocky.branches.state_hash import hash_state
from rocky.canonical import canonical_json, text_hash
from rocky.ledger.record import format_time, parse_time
from rocky.project.files import READABLE, write_atomically
from rocky.project.project import branch_prefix
from rocky.store.folder import refuse_escape

STATEMENT_VERSION: Final = 1
_NAME: Final = re.compile(r"[^\s,*?!\"']{1,320}")
_HASH_SHOWN: Final = 8


class Kind(StrEnum):
    """What a statement says. As it is written."""

    APPROVAL = "approval"
    ALLOW_BREAKING = "allow_breaking"


class NotAStatement(ValueError):
    """A text that is no statement of ours; says why."""


@dataclass(frozen=True, slots=True)
class Statement:
    """What is signed. `branch_created_at` tells a branch from an earlier one of the same name.

    `state` is the document whose hash is `state_hash`, so that a person can read what was approved
    and a machine can say what has moved since.
    """

    kind: Kind
    branch: str
    branch_created_at: datetime
    state_hash: str
    state: Mapping[str, Any]
    approver: str
    signed_at: datetime
    message: str | None = None
    base_commit: str | None = None
    git_commit: str | None = None
    git_dirty: bool | None = None

    @property
    def text(self) -> str:
        """The statement as it is signed and stored."""
        said = {
            "version": STATEMENT_VERSION,
            "kind": self.kind.value,
            "branch": self.branch,
            "branch_created_at": format_time(self.branch_created_at),
            "state_hash": self.state_hash,
            "state": dict(self.state),
            "approver": self.approver,
            "signed_at": format_time(self.signed_at),
            "message": self.message,
            "base_commit": self.base_commit,
            "git_commit": self.git_commit,
            "git_dirty": self.git_dirty,
        }
        return canonical_json({key: value for key, value in said.items() if value is not None})

    @property
    def approval_id(self) -> str:
        """When it was signed and how its hash begins: texts sort as statements were signed."""
        return f"{self.signed_at:%Y%m%dT%H%M%S%f}-{text_hash(self.text)[:_HASH_SHOWN]}"


def is_principal(name: str) -> bool:
    """Whether a name can be somebody's in a list of signers: no pattern, no white space."""
    return name.isprintable() and _NAME.fullmatch(name) is not None


def printable(text: str) -> str:
    """A text of somebody's, with escapes for what would move a terminal's cursor."""
    return "".join(each if each.isprintable() else ascii(each)[1:-1] for each in text)


def parse_statement(text: str) -> Statement:
    """The statement in a text. Raises NotAStatement for anything but its canonical form."""
    try:
        data = json.loads(text)
    except (ValueError, RecursionError) as failure:
        raise NotAStatement("it is not JSON") from failure
    if not isinstance(data, dict):
        raise NotAStatement("it is not a JSON object")
    if data.get("version") != STATEMENT_VERSION:
        raise NotAStatement(f"it is of version `{data.get('version')}`, which is not known here")
    try:
        statement = _read_statement(data)
    except (KeyError, TypeError, ValueError, OverflowError) as failure:
        raise NotAStatement(f"a field is missing or wrong: {failure}") from failure
    if statement.text != text:
        raise NotAStatement(
            "it is not in the form of an approval: its keys, their order or the spaces differ"
        )
    if hash_state(statement.state) != statement.state_hash:
        raise NotAStatement("its `state` does not hash to its `state_hash`")
    return statement


def _read_statement(data: dict[str, Any]) -> Statement:
    approver = _text(data, "approver")
    if not is_principal(approver):
        raise ValueError("`approver` is not the name of a signer")
    state = data["state"]
    if not isinstance(state, dict):
        raise TypeError("`state` is not an object")
    dirty = data.get("git_dirty")
    if not isinstance(dirty, bool | None):
        raise TypeError("`git_dirty` is not true or false")
    return Statement(
        Kind(_text(data, "kind")),
        _text(data, "branch"),
        parse_time(_text(data, "branch_created_at")),
        _text(data, "state_hash"),
        state,
        approver,
        parse_time(_text(data, "signed_at")),
        _optional(data, "message"),
        _optional(data, "base_commit"),
        _optional(data, "git_commit"),
        dirty,
    )


def _text(data: Mapping[str, Any], key: str) -> str:
    value = data[key]
    if not isinstance(value, str):
        raise TypeError(f"`{key}` is not a text")
    return value


def _optional(data: Mapping[str, Any], key: str) -> str | None:
    return _text(data, key) if key in data else None


APPROVALS_FOLDER: Final = ".rocky/approvals"
SIGNATURE_SUFFIX: Final = ".sig"
_LARGEST_FILE: Final = 64 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class SignedStatement:
    """A statement with a signature, neither of them believed yet. `name` is its file's."""

    name: str
    text: str
    signature: str
    statement: Statement
    envelope: Envelope


@dataclass(frozen=True, slots=True)
class UnusableFile:
    """A file that is no signed statement, with why. `is_unsigned`: the signature is at fault."""

    name: str
    detail: str
    is_unsigned: bool = False


@dataclass(frozen=True, slots=True)
class StatementFiles:
    """Where a statement and its signature were put."""

    statement: Path
    signature: Path


def approvals_folder(root: Path, branch: str) -> Path:
    """Where the approvals of a branch are. Raises NothingSelected for what is no branch's name."""
    branch_prefix(branch)
    return root / APPROVALS_FOLDER / branch


def load_statements(root: Path, branch: str) -> tuple[SignedStatement | UnusableFile, ...]:
    """All there is for a branch, in the order of signing. Raises OSError when it cannot be told."""
    folder = approvals_folder(root, branch)
    refuse_escape(root, f"{APPROVALS_FOLDER}/{branch}")
    try:
        names = sorted(each for each in os.listdir(folder) if each.endswith(".json"))  # noqa: PTH208 - tells a missing folder from an empty one
    except FileNotFoundError:
        return ()
    return tuple(_load_statement(folder / name) for name in names)


def parse_signed_statement(
    name: str, text: bytes, signature: str
) -> SignedStatement | UnusableFile:
    """A statement and its signature, taken apart."""
    try:
        said = text.decode("utf-8")
        statement = parse_statement(said)
    except UnicodeDecodeError:
        return UnusableFile(name, "it is not UTF-8")
    except NotAStatement as failure:
        return UnusableFile(name, str(failure))
    except RecursionError:
        return UnusableFile(name, "it nests values too deeply")
    try:
        envelope = parse_signature(signature)
    except NotASignature as failure:
        return UnusableFile(name, str(failure), is_unsigned=True)
    return SignedStatement(name, said, signature, statement, envelope)


def store_statement(root: Path, candidate: SignedStatement) -> StatementFiles:
    """Put a signed statement where it is looked for. Raises OSError."""
    folder = approvals_folder(root, candidate.statement.branch)
    refuse_escape(root, f"{APPROVALS_FOLDER}/{candidate.statement.branch}")
    folder.mkdir(parents=True, exist_ok=True)
    statement = folder / f"{candidate.statement.approval_id}.json"
    signature = statement.with_name(statement.name + SIGNATURE_SUFFIX)
    write_atomically(signature, candidate.signature, mode=READABLE)
    write_atomically(statement, candidate.text, mode=READABLE)
    return StatementFiles(statement, signature)


def _load_statement(path: Path) -> SignedStatement | UnusableFile:
    name = path.name.removesuffix(".json")
    try:
        text = _read_file(path)
    except OSError as failure:
        return UnusableFile(name, f"it cannot be read: {failure.strerror}")
    try:
        signature = _read_file(path.with_name(path.name + SIGNATURE_SUFFIX)).decode(
            "ascii", "replace"
        )
    except FileNotFoundError:
        return UnusableFile(name, "there is no signature beside it", is_unsigned=True)
    except OSError as failure:
        detail = f"its signature cannot be read: {failure.strerror}"
        return UnusableFile(name, detail, is_unsigned=True)
    return parse_signed_statement(name, text, signature)


def _read_file(path: Path) -> bytes:
    with os.fdopen(os.open(path, os.O_RDONLY | os.O_NOFOLLOW), "rb") as file:
        data = file.read(_LARGEST_FILE + 1)
    if len(data) > _LARGEST_FILE:
        raise OSError(0, "it is too large for an approval")
    return data
