"""The policy of approvals: how many people must approve a branch, and who may sign.

It is the policy of the commits before the branch, only ever made stricter. A change cannot vote for
itself: what it says about approvals, and whom it lists as signers, counts on top of what was there
before and never in its place. Lists of signers are in OpenSSH's `allowed_signers` format;
`ssh-keygen` alone decides who may sign, and what is read here only ever refuses more.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from rocky.branches.approvals.ssh import PublicKey, decode_key
from rocky.diagnostics import Severity
from rocky.errors import SignersUnusable
from rocky.project import Project
from rocky.project.configuration.blocks import Approval, AuthorProof, Branch
from rocky.project.toml.documents import Problems
from rocky.project.toml.parser import load_toml
from rocky.project.toml.records import read_record
from rocky.project.toml.variables import Keys, quote_bare_references, resolve_variables

_WORD: Final = re.compile(r'(?:"[^"]*"|[^\s"])+')
_KEY_TYPE: Final = re.compile(r"(sk-)?(ssh|ecdsa)-[a-z0-9@.-]+")
_OPTION: Final = re.compile(r'(?:"[^"]*"|[^,"])+')


@dataclass(frozen=True, slots=True)
class SignerLine:
    """One line: whoever these patterns name may sign with this key."""

    text: str
    patterns: tuple[str, ...]
    key: PublicKey

    def names(self, principal: str) -> bool:
        """Whether it is about somebody. Compared without case: a doubt makes one person of two."""
        matched = False
        for pattern in self.patterns:
            if _matches(pattern.removeprefix("!"), principal):
                if pattern.startswith("!"):
                    return False
                matched = True
        return matched

    @property
    def sole_principal(self) -> str | None:
        """The one name it has, where it has one and no patterns."""
        only = self.patterns[0] if len(self.patterns) == 1 else "*"
        return None if any(each in only for each in "*?!") else only


@dataclass(frozen=True, slots=True)
class SignersFile:
    """A list of signers. `origin` says which, for people."""

    origin: str
    text: str
    lines: tuple[SignerLine, ...]

    def lines_of(self, fingerprint: str) -> Iterator[SignerLine]:
        return (each for each in self.lines if each.key.fingerprint == fingerprint)


@dataclass(frozen=True, slots=True)
class Signers:
    """The lists that count, each of which must allow a signature; none: nobody may sign.

    `path` is where the newest of them is, from the project's folder on.
    """

    files: tuple[SignersFile, ...] = ()
    path: str = ""

    @property
    def origin(self) -> str:
        return " and ".join(each.origin for each in self.files)

    def is_listed(self, fingerprint: str) -> bool:
        """Whether every list has the key, for whomever."""
        return bool(self.files) and all(any(each.lines_of(fingerprint)) for each in self.files)

    def line_of(self, fingerprint: str, principal: str) -> str:
        """The line that a signature was accepted by."""
        for file in self.files:
            for line in file.lines_of(fingerprint):
                if line.names(principal):
                    return line.text
        return ""

    def may_be(self, fingerprint: str, people: Iterable[str]) -> str | None:
        """The one of some people whose key it could be by any list; None when it is nobody's."""
        lines = [line for file in self.files for line in file.lines_of(fingerprint)]
        return next((each for each in people if any(line.names(each) for line in lines)), None)

    def sole_principals(self, fingerprint: str) -> tuple[str, ...]:
        """The names that lines of one name each have for a key."""
        found = {
            line.sole_principal: None for file in self.files for line in file.lines_of(fingerprint)
        }
        return tuple(each for each in found if each is not None)


def parse_signers(data: bytes, origin: str) -> SignersFile:
    """The list in a file's bytes. Raises SignersUnusable: one wrong line makes all of it unsure."""
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as failure:
        raise SignersUnusable(f"{origin} is not UTF-8, so nobody may sign") from failure
    lines = []
    for number, line in enumerate(text.split("\n"), 1):
        said = line.strip()
        if said and not said.startswith("#"):
            lines.append(_parse_line(said, f"{origin} line {number}"))
    return SignersFile(origin, text, tuple(lines))


def _parse_line(said: str, where: str) -> SignerLine:
    words = _WORD.findall(said)
    options = words.pop(1) if len(words) > 1 and not _KEY_TYPE.fullmatch(words[1]) else ""
    names = [each.split("=")[0].lower() for each in _OPTION.findall(options)]
    if "cert-authority" in names:
        raise SignersUnusable(
            f"{where}: `cert-authority` is not supported, because a certificate does not say which"
            " person it is; list the keys themselves"
        )
    key = decode_key(words[2]) if len(words) > 2 else None
    if key is None or key.kind != words[1]:
        raise SignersUnusable(
            f"{where} is not written `PRINCIPAL [OPTIONS] ssh-ed25519 KEY`, so nobody may sign;"
            " `man ssh-keygen` has the format under ALLOWED SIGNERS"
        )
    patterns = tuple(each for each in words[0].strip('"').split(",") if each)
    return SignerLine(said, patterns, key)


def _matches(pattern: str, name: str) -> bool:
    parts = {"*": ".*", "?": "."}
    wanted = "".join(parts.get(each) or re.escape(each) for each in pattern.casefold())
    return re.fullmatch(wanted, name.casefold(), re.DOTALL) is not None


@dataclass(frozen=True, slots=True)
class ProjectAtCommit:
    """The project as it was at a commit. `read` gives the bytes at a path from the project on.

    It gives None only for a file that is truly not there.
    """

    commit: str
    read: Callable[[str], bytes | None]

    def __str__(self) -> str:
        return f"commit `{self.commit[:12]}`"


AUTHOR_UNPROVEN: Final = "author unproven"
"""What is said of a change whose authors are known by nothing but what they typed."""


@dataclass(frozen=True, slots=True)
class Policy:
    """What a promotion needs. `warnings` say where there was no before to hold a change to."""

    required: bool
    min_approvers: int
    max_age_seconds: int
    allow_author: bool
    signers: Signers
    warnings: tuple[str, ...] = ()
    author_proof: AuthorProof = "none"

    def to_json(self) -> dict[str, str]:
        """The policy in words, for a record."""
        return {
            "required": str(self.required).lower(),
            "min_approvers": str(self.min_approvers),
            "max_age_seconds": str(self.max_age_seconds),
            "allow_author": str(self.allow_author).lower(),
            "author_proof": AUTHOR_UNPROVEN if self.author_proof == "none" else self.author_proof,
            "signers": self.signers.origin or "none",
        }


def find_policy(
    project: Project, past: Sequence[ProjectAtCommit], environment: Mapping[str, str]
) -> Policy:
    """The policy for a change of a project: the strictest of its own rules and those of the past.

    The last of `past` is the main line as it is now; nothing is outside git. Raises SignersUnusable
    when the policy cannot be told, or when approvals are required of nobody.
    """
    _refuse_unreadable_rules(project)
    own = project.config.branch.approval
    before = [(each, _settings_at(each, project.config_path, environment)) for each in past]
    everywhere = [own, *(settings for _, settings in before)]
    signers, warnings = _find_signers(project, before)
    return Policy(
        any(each.required for each in everywhere),
        max(each.min_approvers for each in everywhere),
        min(each.max_age_seconds for each in everywhere),
        all(each.allow_author for each in everywhere),
        signers,
        warnings,
        "none" if all(each.author_proof == "none" for each in everywhere) else "signed_commits",
    )


def _refuse_unreadable_rules(project: Project) -> None:
    """A mistyped rule would leave a default to decide who may promote what."""
    for each in project.diagnostics:
        if each.path == project.config_path and each.severity is Severity.ERROR:
            raise SignersUnusable(
                f"`{project.config_path}` has errors, so the approval rules are not known"
                f" ({each.message}); `rocky validate` shows them"
            )


def _settings_at(base: ProjectAtCommit, path: str, environment: Mapping[str, str]) -> Approval:
    """`[branch.approval]` of a commit."""
    data = base.read(path)
    if data is None:
        raise SignersUnusable(
            f"there is no `{path}` in {base}, so the approval rules are not known; bring the"
            " change up to date with the main line (`git rebase`), or merge the project first"
        )
    where = f"`{path}` of {base}"
    try:
        table = load_toml(quote_bare_references(data.decode("utf-8"))).get("branch", {})
    except (ValueError, RecursionError) as failure:
        raise SignersUnusable(
            f"{where} cannot be read, so the approval rules are not known"
        ) from failure
    problems: Problems = []
    unset: list[str] = []

    def missing(keys: Keys, name: str) -> None:  # noqa: ARG001 - the signature of who calls it
        unset.append(name)

    resolved: Any = resolve_variables(table, environment, missing)
    found = read_record(Branch, resolved, ("branch",), problems)
    if unset or problems or found is None:
        why = f"`{unset[0]}` is not set" if unset else ""
        why = problems[0].message if problems else why
        raise SignersUnusable(f"`[branch]` in {where} cannot be used: {why}")
    return found.approval


def _find_signers(
    project: Project, before: Sequence[tuple[ProjectAtCommit, Approval]]
) -> tuple[Signers, tuple[str, ...]]:
    """Every list there is: whoever is missing from one, or was taken off since, may not sign."""
    path = project.config.branch.approval.allowed_signers
    own = _own_signers(project, path)
    found: list[SignersFile] = []
    absent = ""
    for base, settings in before:
        data = base.read(settings.allowed_signers)
        absent = f"`{settings.allowed_signers}` is not in {base}" if data is None else ""
        if data is not None:
            found.append(parse_signers(data, f"`{settings.allowed_signers}` of {base}"))
    _refuse_missing_signers(before, absent, found)
    warnings = []
    if own is None and found:
        warnings.append(f"`{path}` is gone: {found[0].origin} counts")
        path = before[0][1].allowed_signers
    elif own is not None:
        if before and not found:
            warnings.append(f"{absent}: the change itself says who may approve")
        found.append(own)
    lists: dict[str, SignersFile] = {}
    for each in found:
        lists.setdefault(each.text, each)
    return Signers(tuple(lists.values()), path), tuple(warnings)


def _refuse_missing_signers(
    before: Sequence[tuple[ProjectAtCommit, Approval]], absent: str, found: Sequence[SignersFile]
) -> None:
    """Where the main line wants approval and lists nobody, it is not for a change to name them."""
    if not absent:
        return
    (_, main), required = before[-1], any(settings.required for _, settings in before)
    if main.required or (required and not found):
        raise SignersUnusable(
            f"{absent}, and approval is required: nobody may approve until the main line has the"
            " list"
        )


def _own_signers(project: Project, path: str) -> SignersFile | None:
    try:
        data = (project.root / path).read_bytes()
    except FileNotFoundError:
        return None
    except OSError as failure:
        raise SignersUnusable(f"`{path}` cannot be read: {failure.strerror}") from failure
    return parse_signers(data, f"`{path}`")
