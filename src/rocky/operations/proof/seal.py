"""A seal: the heads of the ledger and of its tables, signed into a file to be kept elsewhere.

Made on demand, and with `[evidence] seal = "every_run"` at the end of every run of production. It
is made of what stays: records that are not sent yet may still be put on top of others'.
"""

import os
import shlex
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Final

from rocky.branches.approvals.commits import find_git_signing_key
from rocky.branches.approvals.signatures import KEY_VARIABLE, KeyChoices
from rocky.branches.approvals.ssh import Keygen
from rocky.diagnostics import Severity
from rocky.errors import (
    NotARepository,
    NothingSelected,
    RockyError,
    SealRefused,
    describe_failure,
)
from rocky.evidence.seals import HeadsNow, KeptSeal, Seal, find_heads, refuse_broken_chain
from rocky.ledger.chain import BEFORE_FIRST
from rocky.ledger.readers.evidence import open_evidence_reader
from rocky.ledger.readers.heads import open_heads_reader
from rocky.operations.digest import Digested
from rocky.operations.warehouses import recorded_warehouses
from rocky.operations.workspace import (
    Workspace,
    expect_named_state,
    known_branch,
    load_workspace,
    state_path,
    state_settings,
)
from rocky.plan.arguments import Request
from rocky.project import Project
from rocky.project.files import READABLE, write_atomically
from rocky.project.git import Repository, find_identity, find_repository
from rocky.project.writable_folder import write_problem
from rocky.seals.seal_file import (
    NAMESPACE,
    SealSigner,
    choose_signer,
    file_name,
    judge_file,
    sign_seal,
)
from rocky.seals.seal_places import load_signers
from rocky.store.folder import refuse_escape

if TYPE_CHECKING:
    from rocky.run.outcomes import RunResult


_NO_LEDGER: Final = "0" * 32
"""The id of a ledger that nobody has: a seal of it says nothing."""


@dataclass(frozen=True, slots=True)
class SealRequest(Request):
    """With which key, by which name among the signers, and into which file.

    Without them the key is that of `[evidence] seal_key` or the one approvals are signed with, the
    name the one the list has for it, and the file one in `[evidence] seal_dir`.
    """

    key: str | None = None
    principal: str | None = None
    out: Path | None = None


@dataclass(frozen=True, slots=True, repr=False)
class SealReport(Digested):
    """A seal that was made: what it holds, where it is, and how anybody checks its signature."""

    path: str
    ledger_id: str
    seq: int
    entry_hash: str
    tables: int
    signer: str
    key_fingerprint: str
    sealed_at: datetime
    verify_command: str
    warnings: tuple[str, ...]
    branch: str | None = None


def seal(workspace: Workspace, request: SealRequest) -> SealReport:
    """Seal the ledger and its tables as they are.

    Raises SealRefused, SignersUnusable, KeygenUnavailable, NothingSelected when nothing is recorded
    yet, LedgerUnreadable, and what reaching the state and the tables raises.
    """
    workspace = known_branch(workspace)
    project = load_workspace(workspace, cache=False)
    _refuse_unreadable_rules(project)
    expect_named_state(workspace)
    return _make_seal(workspace, project, request)


def refuse_unsealable(workspace: Workspace, project: Project) -> None:
    """Raise SealRefused, before a run begins anything, if its end could not be sealed.

    A seal of nothing is signed for that, and thrown away; where somebody would have to type a
    passphrase or touch a key for it, only the key and the list are looked at.
    """
    if not is_due(workspace, project):
        return
    try:
        signer, keygen = _choose_signer(workspace, project, SealRequest())
        folder = project.root / project.config.evidence.seal_dir
        refuse_escape(project.root, project.config.evidence.seal_dir)
        problem = write_problem(folder)
        if problem is not None:
            raise SealRefused(f"`{folder}` cannot be written: {problem}")
        if not workspace.is_interactive:
            trial = Seal(_NO_LEDGER, BEFORE_FIRST, (), signer.principal, datetime.now(UTC))
            sign_seal(trial, signer, keygen)
    except (RockyError, OSError) as failure:
        raise SealRefused(
            f'nothing was begun: `{project.config_path}` says `[evidence] seal = "every_run"`,'
            f" and the run could not be sealed: {describe_failure(failure)}; mend that, or set"
            ' `seal = "never"` until it is'
        ) from failure


def seal_run(workspace: Workspace, project: Project, result: "RunResult") -> "RunResult":
    """The result of a run with the seal that it has now, or with why it has none."""
    if not is_due(workspace, project):
        return result
    try:
        made = _make_seal(workspace, project, SealRequest(), result.run_id)
    except (RockyError, OSError) as failure:
        return replace(result, seal_error=_unsealed(f"run `{result.run_id}`", failure))
    return replace(result, seal=made.path)


def seal_deed(workspace: Workspace, project: Project, deed: str, run_id: str) -> None:
    """Seal a promotion, or another `deed` that is recorded as a run without being one.

    Raises SealRefused, which says that the deed stands.
    """
    if not is_due(workspace, project):
        return
    try:
        _make_seal(workspace, project, SealRequest(), run_id)
    except (RockyError, OSError) as failure:
        raise SealRefused(_unsealed(f"{deed} `{run_id}`", failure)) from failure


def is_due(workspace: Workspace, project: Project) -> bool:
    """Whether the end of a run is sealed: one of production, by the project's settings."""
    return workspace.branch_name is None and project.config.evidence.seal == "every_run"


def _unsealed(deed: str, failure: Exception) -> str:
    return (
        f"{deed} was made and is recorded, but it is not sealed: {describe_failure(failure)};"
        " `rocky seal` makes up for it"
    )


def _refuse_unreadable_rules(project: Project) -> None:
    """A mistyped setting would leave a default to decide who seals, and where to."""
    for each in project.diagnostics:
        if each.path == project.config_path and each.severity is Severity.ERROR:
            raise SealRefused(
                f"`{project.config_path}` has errors, so who may seal is not known"
                f" ({each.message}); `rocky validate` shows them"
            )


def _make_seal(
    workspace: Workspace, project: Project, request: SealRequest, run_id: str | None = None
) -> SealReport:
    """A seal that covers a run, if one is named."""
    signers_path = project.root / project.config.branch.approval.allowed_signers
    signer, keygen = _choose_signer(workspace, project, request)
    heads = _find_heads(workspace, run_id)
    now, branch = datetime.now(UTC), workspace.branch_name
    made = Seal(heads.ledger_id, heads.head, heads.tables, signer.principal, now, branch)
    path = request.out or _own_path(project, made)
    if not path.exists():
        write_atomically(path, sign_seal(made, signer, keygen), mode=READABLE)
    elif run_id is None or not _is_sealed(path, made, signer, keygen):
        # Of two runs that end at once, the first may have sealed both.
        raise SealRefused(f"`{path}` is there already, and a seal replaces none: see `--out`")
    warnings = _find_warnings(heads)
    for each in warnings:
        workspace.warn(each)
    return SealReport(
        os.path.relpath(path),
        made.ledger_id,
        made.head.seq,
        made.head.entry_hash,
        len(made.tables),
        made.signer,
        signer.key.fingerprint,
        now,
        _verify_command(path, signers_path, made.signer),
        warnings,
        made.branch,
    )


def _choose_signer(
    workspace: Workspace, project: Project, request: SealRequest
) -> tuple[SealSigner, Keygen]:
    """Who seals, and the program that signs. Raises SealRefused, SignersUnusable."""
    keygen = Keygen(dict(workspace.environment), workspace.is_interactive)
    repository = _find_repository(project.root)
    signer = choose_signer(
        _key_choices(workspace, project, request.key, repository),
        load_signers(project.root / project.config.branch.approval.allowed_signers),
        request.principal,
        None if repository is None else find_identity(repository).email,
        keygen,
    )
    return signer, keygen


def _is_sealed(path: Path, made: Seal, signer: SealSigner, keygen: Keygen) -> bool:
    """Whether the seal that is there is of the same head, and counts."""
    found = judge_file(path.name, path.read_bytes(), signer.signers, keygen)
    return isinstance(found, KeptSeal) and (found.seal.ledger_id, found.seal.head) == (
        made.ledger_id,
        made.head,
    )


def _find_repository(folder: Path) -> Repository | None:
    try:
        return find_repository(folder)
    except NotARepository:
        return None


def _key_choices(
    workspace: Workspace, project: Project, asked: str | None, repository: Repository | None
) -> KeyChoices:
    home = workspace.environment.get("HOME")
    own = project.config.evidence.seal_key
    if asked is None and own is not None:
        is_path = not own.startswith(("key::", "ssh-", "sk-ssh-", "~/"))
        asked = str(project.root / own) if is_path else own
    return KeyChoices(
        asked,
        workspace.environment.get(KEY_VARIABLE),
        None if repository is None else find_git_signing_key(repository),
        Path(home) if home else None,
    )


def _find_heads(workspace: Workspace, run_id: str | None) -> HeadsNow:
    """What there is to seal, where it stays. Raises SealRefused for what may yet move."""
    path, state = state_path(workspace), state_settings(workspace)
    # Only projects with a remote state pay for its clients.
    from rocky.state.session import open_session  # noqa: PLC0415

    with open_session(state, path, workspace.environment, listener=workspace.synced) as session:
        session.refresh(current=True)
        if run_id is None:
            _refuse_broken(path)
        reader = open_heads_reader(path)
        if reader is None:
            raise NothingSelected("no run is recorded yet; `rocky run` makes the first")
        with reader:
            # What is not published is at no head that anybody else will ever see.
            published = session.published_head or BEFORE_FIRST if session.is_remote else None
            return find_heads(reader, recorded_warehouses(workspace), published, run_id)


def _refuse_broken(path: Path) -> None:
    """Who seals by hand puts their name to all of it; a run does so to what it has added."""
    reader = open_evidence_reader(path)
    if reader is not None:
        with reader:
            refuse_broken_chain(reader)


def _find_warnings(heads: HeadsNow) -> tuple[str, ...]:
    warnings = [
        f"`{each}` is not sealed, because its newest recorded commit is not in the table as it was"
        " recorded; `rocky verify` says more"
        for each in heads.unlike
    ]
    if heads.beyond:
        warnings.append(
            f"the last {heads.beyond:,} entries of the chain here are not sealed, because the"
            " remote state does not have them yet"
        )
    return tuple(warnings)


def _own_path(project: Project, made: Seal) -> Path:
    folder = project.config.evidence.seal_dir
    refuse_escape(project.root, folder)
    return project.root / folder / file_name(made)


def _verify_command(path: Path, signers: Path, signer: str) -> str:
    """A line for a shell (bash) that checks a signature without Rocky."""
    file, listed = shlex.quote(os.path.relpath(path)), shlex.quote(os.path.relpath(signers))
    return (
        f"head -n 1 {file} | ssh-keygen -Y verify -f {listed} -I {shlex.quote(signer)}"
        f" -n {NAMESPACE} -s <(tail -n +2 {file})"
    )
