"""The ledger against itself and against its tables: every hash is computed again. No Spark."""

from dataclasses import dataclass, fields
from typing import Final, Literal

from rocky.diagnostics.suggestion import suggestion
from rocky.errors import LedgerUnreadable, NothingSelected
from rocky.evidence.findings import Finding
from rocky.ledger import LATEST, EvidenceReader
from rocky.operations.workspace import (
    Workspace,
    expect_named_state,
    known_branch,
    refresh_state,
    state_path,
)
from rocky.plan.arguments import Request


@dataclass(frozen=True, slots=True)
class VerifyRequest(Request):
    """What to check: a run (its id or `latest`), a model or a table by name; without one, all."""

    what: str | None = None


@dataclass(frozen=True, slots=True)
class VerifiedScope:
    """What was checked: all, the records and tables of one run, or one table."""

    kind: Literal["all", "run", "table"]
    name: str | None = None


@dataclass(frozen=True, slots=True)
class VerifiedCounts:
    """How much was looked at; `collected` are files that `rocky gc` removed since."""

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


@dataclass(frozen=True, slots=True)
class VerifyReport:
    """Where evidence and tables disagree; `notes` are what is merely unfinished."""

    scope: VerifiedScope
    verified: bool
    findings: tuple[Finding, ...]
    notes: tuple[str, ...]
    checked: VerifiedCounts


def verify(workspace: Workspace, request: VerifyRequest) -> VerifyReport:
    """What came of checking. Raises NothingSelected, LedgerUnreadable, StoreUnreadable."""
    # Here: `rocky replay` has these reports too, and shows a record without any store.
    from rocky.evidence.verification import VerificationScope, verify_ledger  # noqa: PLC0415
    from rocky.operations.warehouses import lost_ledger, recorded_warehouses  # noqa: PLC0415

    def choose(reader: EvidenceReader) -> VerificationScope:
        return VerificationScope(*_find_scope(reader, request.what))

    workspace = known_branch(workspace)
    path = state_path(workspace)
    # A copy that may be out of date proves nothing.
    refresh_state(workspace, path, current=True)
    expect_named_state(workspace)
    found = verify_ledger(path, recorded_warehouses(workspace), choose)
    if found is None:
        lost = lost_ledger(workspace)
        if lost is None:
            raise NothingSelected("no run is recorded yet; `rocky run` makes the first")
        raise LedgerUnreadable(
            f"the tables were made under the ledger `{lost}`, and `{path}` is not there or empty:"
            " put it back, or name it with `--state-path`"
        )
    scope, result = found
    return VerifyReport(
        _describe_scope(scope.run_id, scope.target),
        not result.findings,
        result.findings,
        result.notes,
        VerifiedCounts(**{each.name: result.checked.get(each.name, 0) for each in _COUNTS}),
    )


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
    hint = suggestion(what, [*runs, *names]) or "`rocky history` lists the runs"
    raise NothingSelected(f"no run, model or table `{what}` is recorded; {hint}")


def _describe_scope(run_id: str | None, target: str | None) -> VerifiedScope:
    if run_id is not None:
        return VerifiedScope("run", run_id)
    return VerifiedScope("all") if target is None else VerifiedScope("table", target)


_COUNTS: Final = fields(VerifiedCounts)
