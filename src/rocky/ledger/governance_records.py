"""Records of what a catalogue was told: each statement before it is made, and what came of it.

A statement has three rows: that it is part of a plan, that it is about to be made, how it ended. So
whoever finds the second without the third knows what may or may not have been done. Rows are
written once; the last about a fact say whether it is ours.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Final

from rocky.canonical import record_json
from rocky.ledger.database import READER_PATIENCE_SECONDS, connect_reader, translated
from rocky.ledger.ledger_file import LedgerFile
from rocky.ledger.record import Record, format_time, key_of, load_record
from rocky.ledger.row_evidence import check_unindexed
from rocky.ledger.schema import table_names

GOVERNANCE: Final = "governance"
PLANNED: Final = "planned"
ABOUT_TO: Final = "about_to"
UNANSWERED: Final = "unanswered"
DONE: Final = "done"
REFUSED: Final = "refused"
_STAGES: Final = (PLANNED, ABOUT_TO, UNANSWERED, DONE, REFUSED)


@dataclass(frozen=True, slots=True)
class GovernanceRecord(Record):
    """One statement to a catalogue. `stage` is `planned`, `about_to`, `done` or `refused`.

    It is `unanswered` where nobody knows which of the last two. `action` is `add`, `change`,
    `remove` or `adopt`; the last is no statement, but says that something that was there is
    declared now. `kind`, `level`, `on`, `subject`, `name` and `value` are the fact; `by` is who
    asked for it, `why` what declares it or no longer does.
    """

    application: str
    number: int
    stage: str
    at: datetime
    catalogue: str
    plan_id: str
    action: str
    kind: str
    level: str
    on: str
    statement: str
    why: str
    subject: str = ""
    name: str = ""
    value: str = ""
    before: str | None = None
    by: str | None = None
    run_id: str | None = None
    error: str | None = None

    @property
    def key(self) -> str:
        return key_of(self.application, f"{self.number:06d}", self.stage)


def application_at(moment: datetime) -> str:
    """The id of an application that begins at a moment; ids sort as times do."""
    return f"governance-{format_time(moment)}"


def record_statements(ledger: LedgerFile, records: Iterable[GovernanceRecord]) -> None:
    """Write what is about to be done, or what came of it, in one transaction."""
    with ledger.transaction() as rows:
        for each in records:
            rows.put(GOVERNANCE, each.key, record_json(each.to_json()))


def load_governance(path: Path) -> tuple[GovernanceRecord, ...]:
    """All that catalogues were told, oldest first; nothing without a ledger.

    Raises LedgerUnreadable, also where a row is not as Rocky wrote it: what is recorded as ours is
    taken back from a catalogue.
    """
    connection = connect_reader(path, READER_PATIENCE_SECONDS)
    if connection is None:
        return ()
    try:
        with translated(path, writing=False):
            if GOVERNANCE not in table_names(connection):
                return ()
            check_unindexed(connection, path, GOVERNANCE)
            stored = connection.execute(
                f"SELECT key, value FROM {GOVERNANCE} ORDER BY key"  # noqa: S608 - one of our own names
            ).fetchall()
    finally:
        connection.close()
    return tuple(
        load_record(GovernanceRecord, path, GOVERNANCE, key, value) for key, value in stored
    )


def newest(records: Sequence[GovernanceRecord]) -> tuple[GovernanceRecord, ...]:
    """Of each statement the row that says most, in the order in which they were made."""
    found: dict[tuple[str, int], GovernanceRecord] = {}
    for each in records:
        known = found.get((each.application, each.number))
        if known is None or _rank(each) > _rank(known):
            found[(each.application, each.number)] = each
    return tuple(found[key] for key in sorted(found))


def _rank(record: GovernanceRecord) -> int:
    return _STAGES.index(record.stage) if record.stage in _STAGES else -1
