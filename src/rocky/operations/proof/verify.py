"""The ledger against itself and against its tables: every hash is computed again. No Spark.

And against what somebody has kept of it elsewhere: seals, or the hash of an entry that they noted.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, fields
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Final, Literal

from rocky.diagnostics.render import counted
from rocky.diagnostics.suggestion import suggestion
from rocky.errors import (
    InvalidRequest,
    LedgerUnreadable,
    NothingSelected,
)
from rocky.evidence.findings import Finding, FindingCode
from rocky.ledger import LATEST, EvidenceReader
from rocky.ledger.record import run_meant
from rocky.operations.digest import Digested
from rocky.operations.workspace import (
    Workspace,
    expect_named_state,
    known_branch,
    project_location,
    refresh_state,
    state_path,
)
from rocky.plan.arguments import Request

# Only who has kept something pays for what checks signatures.
if TYPE_CHECKING:
    from rocky.evidence.seals import KeptHeads, KeptSeal
    from rocky.evidence.verification import Verification
    from rocky.operations.proof.verified_point import NamedPoint


@dataclass(frozen=True, slots=True)
class VerifyRequest(Request):
    """What to check: a run (its id or `latest`), a model or a table by name; without one, all.

    `sealed` is where seals are (a file, a folder or `git:REF[:PATH]`), `allowed_signers` the list
    of who may seal, and `head` the hash of an entry: the ledger must go on from each.

    `since` leaves out what was recorded before a point: a run (what came after it), a moment (what
    began then or later), the name of one of the seals, or `seal` for the newest of them.
    """

    what: str | None = None
    sealed: str | None = None
    head: str | None = None
    allowed_signers: Path | None = None
    since: str | datetime | None = None


@dataclass(frozen=True, slots=True)
class VerifiedScope:
    """What was checked: all, the records and tables of one run, or one table."""

    kind: Literal["all", "run", "table"]
    name: str | None = None


@dataclass(frozen=True, slots=True)
class VerifiedCounts:
    """How much was looked at; `collected` are files that `rocky gc` removed since.

    `unread` are files that recent runs name and that an earlier run had already.
    """

    runs: int
    records: int
    entries: int
    provenances: int
    tables: int
    commits: int
    files: int
    bytes: int
    collected: int
    anchors: int
    seals: int
    unread: int


@dataclass(frozen=True, slots=True)
class VerifiedSince:
    """What was left out: the records of `earlier_runs` were compared with the chain, not judged.

    Nor were the files read that they name. `seq` is the entry of the chain that it was left out up
    to. Of a seal, the chain has the entry that was sealed, and the records of `unseen_runs` of the
    earlier ones were not looked at: they found all as it was, and no later one rests on them.
    """

    kind: Literal["run", "moment", "seal"]
    name: str
    seq: int
    earlier_runs: int
    unseen_runs: int


@dataclass(frozen=True, slots=True)
class ChainHead:
    """Where the chain of records ends: the number and hash of its last entry."""

    seq: int
    entry_hash: str


@dataclass(frozen=True, slots=True)
class VerifiedSeal:
    """A seal that somebody on the list has signed: by its file, who, when, and of which entry."""

    name: str
    signer: str
    sealed_at: datetime
    seq: int
    entry_hash: str
    tables: int


@dataclass(frozen=True, slots=True)
class VerifiedCommit:
    """Where the seals of `git:REF` were taken from; `ref` is None for a hash or an expression."""

    repository: str
    ref: str | None
    commit: str


@dataclass(frozen=True, slots=True, repr=False)
class VerifyReport(Digested):
    """Where evidence and tables disagree; `notes` are what is merely unfinished.

    With `since`, `verified` is said of what came after that point, and of the chain as a whole.
    """

    scope: VerifiedScope
    verified: bool
    findings: tuple[Finding, ...]
    notes: tuple[str, ...]
    checked: VerifiedCounts
    head: ChainHead
    seals: tuple[VerifiedSeal, ...]
    sealed_in: VerifiedCommit | None = None
    since: VerifiedSince | None = None


def verify(workspace: Workspace, request: VerifyRequest) -> VerifyReport:
    """What came of checking.

    Raises NothingSelected, LedgerUnreadable, StoreUnreadable, and where there are seals
    SignersUnusable, KeygenUnavailable, InvalidRequest and what git raises.
    """
    # Here: `rocky replay` has these reports too, and shows a record without any store.
    from rocky.evidence.scope import VerificationScope  # noqa: PLC0415
    from rocky.evidence.verification import verify_ledger  # noqa: PLC0415
    from rocky.operations.proof.verified_point import find_point  # noqa: PLC0415
    from rocky.operations.warehouses import lost_ledger, recorded_warehouses  # noqa: PLC0415

    def choose(reader: EvidenceReader) -> VerificationScope:
        run_id, target = _find_scope(reader, request.what)
        if request.since is None:
            return VerificationScope(run_id, target)
        if run_id is not None:
            raise InvalidRequest("a run is one alone: `since` has nothing to leave out")
        named[:] = [find_point(reader, request.since, kept)]
        return VerificationScope(None, target, since=named[0].point)

    named: list[NamedPoint] = []
    workspace = known_branch(workspace)
    path = state_path(workspace)
    # A copy that may be out of date proves nothing.
    refresh_state(workspace, path, current=True)
    expect_named_state(workspace)
    kept, refused, others, place = _find_kept(workspace, request)
    found = verify_ledger(path, recorded_warehouses(workspace), choose, kept)
    if found is None:
        lost = lost_ledger(workspace)
        if lost is None:
            raise NothingSelected("no run is recorded yet; `rocky run` makes the first")
        raise LedgerUnreadable(
            f"the tables were made under the ledger `{lost}`, and `{path}` is not there or empty:"
            " put it back, or name it with `--state-path`"
        )
    scope, result = found
    findings = (*result.findings, *refused)
    since, left = _describe_point(named, result)
    return VerifyReport(
        _describe_scope(scope.run_id, scope.target),
        not findings,
        findings,
        (*result.notes, *others, *left),
        VerifiedCounts(**{each.name: result.checked.get(each.name, 0) for each in _COUNTS}),
        ChainHead(*result.head),
        tuple(
            VerifiedSeal(name, seal.signer, seal.sealed_at, *seal.head, len(seal.tables))
            for name, seal in kept.seals
        ),
        place,
        since,
    )


def _describe_point(
    named: "Sequence[NamedPoint]", result: "Verification"
) -> tuple[VerifiedSince | None, tuple[str, ...]]:
    """What was left out before the point that was asked for, and in words."""
    if not named:
        return None, ()
    kind, name, point = named[0]
    if result.since is None:
        return None, (
            f"the {kind} `{name}` is not in the chain as it was sealed: nothing was left out",
        )
    earlier, unseen = (result.checked.get(name, 0) for name in ("earlier_runs", "unseen_runs"))
    proof = ", whose seal the chain goes on from" if kind == "seal" else ""
    note = (
        f"since {kind} `{name}`, entry {point.seq:,}{proof}: the records of"
        f" {counted(earlier - unseen, 'earlier run')} were compared with the chain and not judged,"
        " and no file that one of them had already was read"
    )
    if result.passed:
        note += (
            f"; the records of {counted(unseen, 'earlier run')} that found everything as it was"
            " were not looked at, and SQLite did not check the state file: `rocky verify` without"
            " `--since` does all of that"
        )
    return VerifiedSince(kind, name, point.seq, earlier, unseen), (note,)


def _find_kept(
    workspace: Workspace, request: VerifyRequest
) -> "tuple[KeptHeads, tuple[Finding, ...], tuple[str, ...], VerifiedCommit | None]":
    """What was kept of the ledger; seals that do not count; notes of those that are others'.

    And the commit that the seals are from.
    """
    from rocky.evidence.seals import NOTHING_KEPT, KeptHeads  # noqa: PLC0415

    if request.head is not None and not _HEAD.fullmatch(request.head):
        raise InvalidRequest(
            f"`{request.head}` is not the hash of an entry: 64 digits, 0-9 and a-f"
        )
    if request.sealed is None:
        if request.allowed_signers is not None:
            raise InvalidRequest("`--allowed-signers` needs `--sealed`")
        return (
            (NOTHING_KEPT if request.head is None else KeptHeads(head=request.head)),
            (),
            (),
            None,
        )
    from rocky.branches.approvals.ssh import Keygen  # noqa: PLC0415
    from rocky.branches.approvals.statements import printable  # noqa: PLC0415
    from rocky.seals.seal_file import judge_file  # noqa: PLC0415
    from rocky.seals.seal_places import SealedProject, find_seals  # noqa: PLC0415

    keygen = Keygen(dict(workspace.environment))
    project = SealedProject(*project_location(workspace), workspace.environment)
    found = find_seals(request.sealed, project, request.allowed_signers)
    seals: list[KeptSeal] = []
    others: list[str] = []
    refused = [
        Finding(FindingCode.SEAL_MALFORMED, printable(name), why)
        for name, why in found.unread.items()
    ]
    for name, data in found.files.items():
        judged = judge_file(name, data, found.signers, keygen)
        if isinstance(judged, Finding):
            refused.append(judged)
        elif judged.seal.branch != workspace.branch_name:
            whose = "production" if judged.seal.branch is None else f"branch `{judged.seal.branch}`"
            others.append(f"{name}: it seals {whose}, which is not looked at")
        else:
            seals.append(judged)
    if not seals and not refused:
        raise NothingSelected(f"`{request.sealed}` has no seal of what is looked at: {others[0]}")
    place = VerifiedCommit(*found.commit) if found.commit is not None else None
    return KeptHeads(tuple(seals), request.head), tuple(refused), tuple(others), place


def _find_scope(reader: EvidenceReader, what: str | None) -> tuple[str | None, str | None]:
    """The run, or the table, that a word names; neither without one. Raises NothingSelected."""
    if what is None:
        return None, None
    runs = [key for key, _ in reader.rows("run_history")]
    if what == LATEST and runs:
        return runs[-1], None
    if what in runs:
        return what, None
    wanted = what.replace("`", "").lower()
    names: dict[str, str] = {}
    for _, execution in reader.all_executions():
        if execution.target is not None:
            names[execution.model_name.lower()] = execution.target
            names[execution.target.lower()] = execution.target
    if wanted in names:
        return None, names[wanted]
    meant = run_meant(what, runs[::-1])
    if meant is not None:
        return meant, None
    hint = suggestion(what, [*runs, *names]) or "`rocky history` lists the runs"
    raise NothingSelected(f"no run, model or table `{what}` is recorded; {hint}")


def _describe_scope(run_id: str | None, target: str | None) -> VerifiedScope:
    if run_id is not None:
        return VerifiedScope("run", run_id)
    return VerifiedScope("all") if target is None else VerifiedScope("table", target)


_COUNTS: Final = fields(VerifiedCounts)
_HEAD: Final = re.compile(r"[0-9a-f]{64}")
