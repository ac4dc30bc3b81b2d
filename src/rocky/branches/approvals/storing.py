"""Approvals on disk: `.rocky/approvals/BRANCH/ID.json`, and its signature in `ID.json.sig`.

The signature is put there first and the statement last, each at once: whatever was cut short is a
lone signature, which nobody looks at. A file that cannot be used spoils no other.
"""

import os
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from rocky.branches.approvals.sshsig import Envelope, NotASignature, parse_signature
from rocky.branches.approvals.statement import NotAStatement, Statement, parse_statement
from rocky.project.branching import branch_prefix

FOLDER: Final = ".rocky/approvals"
SIGNATURE: Final = ".sig"
_LARGEST: Final = 64 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class Candidate:
    """A statement with a signature, neither of them believed yet. `name` is its file's."""

    name: str
    text: str
    signature: str
    statement: Statement
    envelope: Envelope


@dataclass(frozen=True, slots=True)
class Unusable:
    """A file that is no signed statement, with why. `is_unsigned`: the signature is at fault."""

    name: str
    detail: str
    is_unsigned: bool = False


@dataclass(frozen=True, slots=True)
class Stored:
    """Where a statement and its signature were put."""

    statement: Path
    signature: Path


def approvals_folder(root: Path, branch: str) -> Path:
    """Where the approvals of a branch are. Raises NothingSelected for what is no branch's name."""
    branch_prefix(branch)
    return root / FOLDER / branch


def load_candidates(root: Path, branch: str) -> tuple[Candidate | Unusable, ...]:
    """All there is for a branch, in the order of signing. Raises OSError when it cannot be told."""
    folder = approvals_folder(root, branch)
    try:
        names = sorted(each for each in os.listdir(folder) if each.endswith(".json"))  # noqa: PTH208 - tells a missing folder from an empty one
    except FileNotFoundError:
        return ()
    return tuple(_load(folder / name) for name in names)


def parse_candidate(name: str, text: bytes, signature: str) -> Candidate | Unusable:
    """A statement and its signature, taken apart."""
    try:
        said = text.decode("utf-8")
        statement = parse_statement(said)
    except UnicodeDecodeError:
        return Unusable(name, "it is not UTF-8")
    except NotAStatement as failure:
        return Unusable(name, str(failure))
    except RecursionError:
        return Unusable(name, "it nests values too deeply")
    try:
        envelope = parse_signature(signature)
    except NotASignature as failure:
        return Unusable(name, str(failure), is_unsigned=True)
    return Candidate(name, said, signature, statement, envelope)


def store_candidate(root: Path, candidate: Candidate) -> Stored:
    """Put a signed statement where it is looked for. Raises OSError."""
    folder = approvals_folder(root, candidate.statement.branch)
    folder.mkdir(parents=True, exist_ok=True)
    statement = folder / f"{candidate.statement.approval_id}.json"
    signature = statement.with_name(statement.name + SIGNATURE)
    _put(signature, candidate.signature)
    _put(statement, candidate.text)
    return Stored(statement, signature)


def _load(path: Path) -> Candidate | Unusable:
    name = path.name.removesuffix(".json")
    try:
        text = _read(path)
    except OSError as failure:
        return Unusable(name, f"it cannot be read: {failure.strerror}")
    try:
        signature = _read(path.with_name(path.name + SIGNATURE)).decode("ascii", "replace")
    except FileNotFoundError:
        return Unusable(name, "there is no signature beside it", is_unsigned=True)
    except OSError as failure:
        detail = f"its signature cannot be read: {failure.strerror}"
        return Unusable(name, detail, is_unsigned=True)
    return parse_candidate(name, text, signature)


def _read(path: Path) -> bytes:
    with path.open("rb") as file:
        data = file.read(_LARGEST + 1)
    if len(data) > _LARGEST:
        raise OSError(0, "it is too large to be one of ours")
    return data


def _put(path: Path, text: str) -> None:
    """A file that is there wholly or not at all."""
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=".writing-")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(text.encode())
            file.flush()
            os.fsync(file.fileno())
        Path(name).chmod(0o644)
        Path(name).replace(path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise
