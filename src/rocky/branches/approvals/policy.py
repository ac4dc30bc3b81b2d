"""The policy that a branch is judged by: that of the commit before it, only ever made stricter.

A change cannot vote for itself: what it says about approvals, and whom it lists as signers, counts
on top of what was there before and never in its place. Outside git there is no before.
"""

import tomllib
from collections.abc import Callable, Mapping
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


def find_policy(project: Project, base: BaseFiles | None, environment: Mapping[str, str]) -> Policy:
    """The policy for a change of a project. Raises SignersUnusable when it cannot be told."""
    _refuse_unclear(project)
    own = project.config.branch.approval
    before = None
    if base is not None:
        before = _settings_at(base, project.config_path, environment)
    signers, warnings = _find_signers(project, base, before or own)
    if before is None:
        before = own
    return Policy(
        own.required or before.required,
        max(own.min_approvers, before.min_approvers),
        min(own.max_age_seconds, before.max_age_seconds),
        own.allow_author and before.allow_author,
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


def _settings_at(base: BaseFiles, path: str, environment: Mapping[str, str]) -> Approval | None:
    """`[branch.approval]` of a commit; None when the commit has no such file."""
    data = base.read(path)
    if data is None:
        return None
    where = f"`{path}` of commit `{base.commit[:12]}`"
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
    project: Project, base: BaseFiles | None, before: Approval
) -> tuple[Signers, tuple[str, ...]]:
    path = project.config.branch.approval.allowed_signers
    own = _own_signers(project, path)
    if base is None:
        return _signers(path, own), ()
    shown = f"commit `{base.commit[:12]}`"
    data = base.read(before.allowed_signers)
    if data is None:
        warning = (
            f"`{before.allowed_signers}` is not in {shown}: the change itself says who may approve"
        )
        return _signers(path, own), () if own is None else (warning,)
    origin = f"`{before.allowed_signers}` of {shown}"
    found = parse_signers(data, origin)
    if own is None:
        return _signers(before.allowed_signers, found), (f"`{path}` is gone: {origin} counts",)
    # Whoever has been taken off the list since may not sign either.
    return _signers(path, found, own if own.text != found.text else None), ()


def _signers(path: str, *files: SignersFile | None) -> Signers:
    return Signers(tuple(each for each in files if each is not None), path)


def _own_signers(project: Project, path: str) -> SignersFile | None:
    try:
        data = (project.root / path).read_bytes()
    except FileNotFoundError:
        return None
    except OSError as failure:
        raise SignersUnusable(f"`{path}` cannot be read: {failure.strerror}") from failure
    return parse_signers(data, f"`{path}`")
