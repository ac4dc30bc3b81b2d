"""The policy that a branch is judged by: that of the commits before it, only ever made stricter.

A change cannot vote for itself: what it says about approvals, and whom it lists as signers, counts
on top of what was there before and never in its place. Outside git there is no before.
"""

import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from rocky.branches.approvals.signers import Signers, SignersFile, parse_signers
from rocky.diagnostics import Severity
from rocky.errors import SignersUnusable
from rocky.project import Project
from rocky.project.blocks import Approval, Branch
from rocky.project.rules import Problems
from rocky.project.shapes import read_record
from rocky.project.variables import Keys, quote_bare_references, resolve_variables


@dataclass(frozen=True, slots=True)
class BaseFiles:
    """The project as it was at a commit. `read` gives the bytes at a path from the project on.

    It gives None only for a file that is truly not there.
    """

    commit: str
    read: Callable[[str], bytes | None]

    def __str__(self) -> str:
        return f"commit `{self.commit[:12]}`"


@dataclass(frozen=True, slots=True)
class Policy:
    """What a promotion needs. `warnings` say where there was no before to hold a change to."""

    required: bool
    min_approvers: int
    max_age_seconds: int
    allow_author: bool
    signers: Signers
    warnings: tuple[str, ...] = ()

    def to_json(self) -> dict[str, str]:
        """The policy in words, for a record."""
        return {
            "required": str(self.required).lower(),
            "min_approvers": str(self.min_approvers),
            "max_age_seconds": str(self.max_age_seconds),
            "allow_author": str(self.allow_author).lower(),
            "signers": self.signers.origin or "none",
        }


def find_policy(
    project: Project, past: Sequence[BaseFiles], environment: Mapping[str, str]
) -> Policy:
    """The policy for a change of a project: the strictest of its own rules and those of the past.

    The last of `past` is the main line as it is now; nothing is outside git. Raises SignersUnusable
    when the policy cannot be told, or when approvals are required of nobody.
    """
    _refuse_unclear(project)
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
    )


def _refuse_unclear(project: Project) -> None:
    """A mistyped rule would leave a default to decide who may promote what."""
    for each in project.diagnostics:
        if each.path == project.config_path and each.severity is Severity.ERROR:
            raise SignersUnusable(
                f"`{project.config_path}` has errors, so the rules of approval are not certain"
                f" ({each.message}); `rocky validate` shows them"
            )


def _settings_at(base: BaseFiles, path: str, environment: Mapping[str, str]) -> Approval:
    """`[branch.approval]` of a commit."""
    data = base.read(path)
    if data is None:
        raise SignersUnusable(
            f"there is no `{path}` in {base}, so the rules of approval are not certain; bring the"
            " change up to date with the main line (`git rebase`), or merge the project first"
        )
    where = f"`{path}` of {base}"
    try:
        table = tomllib.loads(quote_bare_references(data.decode("utf-8"))).get("branch", {})
    except (ValueError, RecursionError) as failure:
        raise SignersUnusable(
            f"{where} cannot be read, so the rules of approval are not certain"
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
    project: Project, before: Sequence[tuple[BaseFiles, Approval]]
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
    _refuse_nobody(before, absent, found)
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


def _refuse_nobody(
    before: Sequence[tuple[BaseFiles, Approval]], absent: str, found: Sequence[SignersFile]
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
