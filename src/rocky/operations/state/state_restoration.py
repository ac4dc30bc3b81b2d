"""A state that was lost, or put back to an older copy, restored from what the tables say."""

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from rocky.ledger.record import RunId
from rocky.operations.digest import Digested
from rocky.operations.proof.foreign_table import decide_state
from rocky.operations.report import same_fields
from rocky.operations.workspace import Workspace
from rocky.plan.arguments import Request

# `rocky state` shows the state too, and must not wait for all that runs.
if TYPE_CHECKING:
    from rocky.run.prepare.session import RunSession
    from rocky.run.record.restoration import LeftTable, Restoration, RestoredTable


@dataclass(frozen=True, slots=True)
class RestorationRequest(Request):
    """Why it is done, and for which table if not for all; `adapter` says where they are."""

    message: str
    table: str | None = None
    adapter: str | None = None


@dataclass(frozen=True, slots=True)
class TableRestoration:
    """A table that the state knows again, from its commits.

    `versions` are the commits that it did not have, `watermark`, `time_intervals` and
    `loaded_files` what they say of how far the table is; `note` what they do not say, and what
    follows from that.
    """

    target: str
    model_name: str
    versions: tuple[int, ...]
    commit_version: int
    watermark: str | None = None
    time_intervals: int | None = None
    loaded_files: int | None = None
    note: str | None = None


@dataclass(frozen=True, slots=True)
class UnrestoredTable:
    """A table that runs still refuse, and why it could not be taken over."""

    target: str
    reason: str


@dataclass(frozen=True, slots=True, repr=False)
class RestorationReport(Digested):
    """The tables that the state knows again, those it does not, and the run that says so."""

    run_id: RunId
    reason: str
    tables: tuple[TableRestoration, ...]
    left: tuple[UnrestoredTable, ...]

    @property
    def exit_code(self) -> int:
        """0 when all tables are known again, 2 when some are, 1 when none is."""
        if not self.left:
            return 0
        return 2 if self.tables else 1


def restore_state(workspace: Workspace, request: RestorationRequest) -> RestorationReport:
    """Take watermarks, time intervals and loaded files from the tables; nothing is loaded again.

    Raises NothingSelected when the state lacks nothing, InvalidRequest, LedgerLocked, and
    SealRefused when it was restored and could not be sealed.
    """
    from rocky.run.record.restoration import restore_from_tables  # noqa: PLC0415

    def restore(opened: "RunSession") -> "Restoration":
        return restore_from_tables(opened, request.table, request.message, datetime.now(UTC))

    done = decide_state(workspace, request.message, request.adapter, restore)
    return RestorationReport(
        done.run_id,
        done.reason,
        tuple(map(_restored, done.tables)),
        tuple(map(_left, done.left)),
    )


def _restored(table: "RestoredTable") -> TableRestoration:
    return TableRestoration(**same_fields(TableRestoration, table))


def _left(table: "LeftTable") -> UnrestoredTable:
    return UnrestoredTable(**same_fields(UnrestoredTable, table))
