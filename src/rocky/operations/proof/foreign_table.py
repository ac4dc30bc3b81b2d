"""A table with commits that no run has made: take it as it is, or put back what was recorded."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Literal, Protocol, TypeVar

from rocky.errors import InvalidRequest
from rocky.ledger.record import RunId
from rocky.operations.digest import Digested
from rocky.operations.placement import place_tables
from rocky.operations.report import same_fields
from rocky.operations.workspace import (
    Workspace,
    caller_of,
    known_branch,
    load_workspace,
    state_path,
)
from rocky.plan.adapters import main_adapter
from rocky.plan.arguments import Request

# `rocky state` shows the state too, and must not wait for all that runs.
if TYPE_CHECKING:
    from rocky.run.prepare.session import RunSession
    from rocky.run.record.foreign_tables import SettledTable


@dataclass(frozen=True, slots=True)
class ForeignTableRequest(Request):
    """The table, by its full name, and why it is decided so; `adapter` says where it is."""

    table: str
    message: str
    adapter: str | None = None


@dataclass(frozen=True, slots=True, repr=False)
class ForeignTableReport(Digested):
    """What was decided of a table, and the run that says so.

    `versions` are those that no run has made, `commit_version` is the one that the table has now.
    """

    run_id: RunId
    target: str
    model_name: str
    verdict: Literal["accepted", "rejected"]
    versions: tuple[int, ...]
    commit_version: int
    reason: str


def accept_foreign(workspace: Workspace, request: ForeignTableRequest) -> ForeignTableReport:
    """Take a table as it is. Raises NothingSelected, RunRefused, LedgerLocked, InvalidRequest."""
    from rocky.run.record.foreign_tables import accept_table  # noqa: PLC0415

    return _settle(workspace, request, accept_table)


def restore_foreign(workspace: Workspace, request: ForeignTableRequest) -> ForeignTableReport:
    """Put back what was recorded. Raises as `accept_foreign` does."""
    from rocky.run.record.foreign_tables import restore_table  # noqa: PLC0415

    return _settle(workspace, request, restore_table)


def _settle(
    workspace: Workspace,
    request: ForeignTableRequest,
    settle: "Callable[[RunSession, str, str, datetime], SettledTable]",
) -> ForeignTableReport:
    def settle_table(opened: "RunSession") -> "SettledTable":
        return settle(opened, request.table, request.message, datetime.now(UTC))

    done = decide_state(workspace, request.message, request.adapter, settle_table)
    return ForeignTableReport(**same_fields(ForeignTableReport, done))


class _Decided(Protocol):
    @property
    def run_id(self) -> RunId: ...


Decided = TypeVar("Decided", bound=_Decided)


def decide_state(
    workspace: Workspace,
    message: str,
    adapter_name: str | None,
    decide: "Callable[[RunSession], Decided]",
) -> Decided:
    """Somebody's decision about the state: made in a run that records why, and sealed.

    Raises InvalidRequest without a reason, and SealRefused when it was made and is not sealed.
    """
    if not message.strip():
        raise InvalidRequest("say why with `--message`: the ledger keeps it")
    from rocky.operations.proof.seal import seal_deed  # noqa: PLC0415
    from rocky.run.prepare.session import open_run  # noqa: PLC0415

    workspace = known_branch(workspace)
    project = place_tables(load_workspace(workspace))
    _, adapter = main_adapter(project, adapter_name)
    caller = caller_of(workspace, project, state_path(workspace))
    with open_run(project, adapter, caller) as opened:
        done = decide(opened)
    seal_deed(workspace, project, "run", done.run_id)
    return done
