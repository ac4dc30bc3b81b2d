"""What a copy must hold, worked out from what is documented and from nothing of Rocky's own.

A source has rows and columns; a copy has rows, columns and a mark; the ledger knows a mark, and the
columns that are on notice. `TableReference.copied` says what a run makes of them.
"""

from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Any

Row = dict[str, Any]
Columns = dict[str, str]

GRACE = timedelta(days=3)
FIXED: Columns = {"id": "bigint", "synced": "timestamp"}
_WIDTH = {"int": 1, "bigint": 2}


def spelt(value: int | None, kind: str) -> int | str | None:
    """A number as a source column of some type holds it; some texts are no numbers."""
    if value is None:
        return None
    match kind:
        case "int":
            return value
        case "bigint":
            return value + 2**40 if value % 2 else value
        case _:
            return f"x{value}" if value % 2 else str(value)


def fitted(value: int | str | None, kind: str) -> int | str | None:
    """A value of a source in a column of the copy: null when it does not fit."""
    if value is None or kind == "timestamp":
        return value
    if kind == "string":
        return str(value)
    return int(value) if isinstance(value, int) or value.isdigit() else None


def grown(stored: str, live: str) -> str | None:
    """The type that holds both; None when none does."""
    if stored == live:
        return stored
    if stored in _WIDTH and live in _WIDTH:
        return max(stored, live, key=_WIDTH.__getitem__)
    return None


@dataclass(frozen=True)
class Copy:
    columns: Columns
    rows: tuple[Row, ...]
    mark: datetime | None = None


@dataclass(frozen=True)
class Notice:
    change: str
    until: datetime


@dataclass(frozen=True)
class Known:
    """What the ledger knows of a copy."""

    mark: datetime | None = None
    notices: dict[str, Notice] = field(default_factory=dict)


@dataclass(frozen=True)
class Decision:
    columns: Columns
    notices: dict[str, Notice]
    is_replaced: bool = False


@dataclass
class TableReference:
    """A source, its copy, and what is known of it. Rows of the source hold plain numbers."""

    name: str
    strategy: str
    source: Columns = field(default_factory=lambda: {**FIXED, "n": "int"})
    rows: list[Row] = field(default_factory=list)
    copy: Copy | None = None
    known: Known = field(default_factory=Known)

    @property
    def live(self) -> list[Row]:
        """The rows as the source shows them."""
        return [
            {
                name: row[name] if name in FIXED else spelt(row.get(name), kind)
                for name, kind in self.source.items()
            }
            for row in self.rows
        ]

    def copied(self, now: datetime) -> tuple[Copy, Known]:
        """The copy after a run at that time, and what is known of it then."""
        decision = self._decide(now)
        rows = tuple(self._projected(row, decision) for row in self.live)
        made = {
            "incremental": self._appended,
            "merge": self._merged,
            "full_refresh": self._refreshed,
        }[self.strategy](decision, rows)
        mark = made.mark if self.strategy == "incremental" else None
        return made, Known(mark, decision.notices)

    def _decide(self, now: datetime) -> Decision:
        if self.copy is None:
            return Decision(dict(self.source), {})
        columns: Columns = {}
        notices: dict[str, Notice] = {}
        is_replaced = False
        for name, stored in self.copy.columns.items():
            live = self.source.get(name)
            both = None if live is None else grown(stored, live)
            if both is not None:
                columns[name] = both
                continue
            change = "dropped" if live is None else "retyped"
            notice = self.known.notices.get(name)
            if notice is None or notice.change != change:
                notice = Notice(change, now + GRACE)
            if notice.until > now:
                columns[name], notices[name] = stored, notice
                continue
            is_replaced = True
            if live is not None:
                columns[name] = live
        added = {name: kind for name, kind in self.source.items() if name not in self.copy.columns}
        return Decision({**columns, **added}, notices, is_replaced)

    def _projected(self, row: Row, decision: Decision) -> Row:
        return {name: fitted(row.get(name), kind) for name, kind in decision.columns.items()}

    def _refreshed(self, decision: Decision, rows: tuple[Row, ...]) -> Copy:
        return Copy(decision.columns, rows)

    def _appended(self, decision: Decision, rows: tuple[Row, ...]) -> Copy:
        goes_on = self.copy is not None and self.known.mark is not None
        low = self.copy.mark if goes_on and not decision.is_replaced else None
        if low is None:
            timed = [row["synced"] for row in rows if row["synced"] is not None]
            return Copy(decision.columns, rows, max(timed, default=None))
        new = tuple(row for row in rows if row["synced"] is not None and row["synced"] > low)
        if not new:
            return self.copy
        kept = tuple(self._kept(decision))
        return Copy(decision.columns, (*kept, *new), max(row["synced"] for row in new))

    def _merged(self, decision: Decision, rows: tuple[Row, ...]) -> Copy:
        if self.copy is None or decision.is_replaced:
            return Copy(decision.columns, rows)
        # What the source no longer has stays as it is in rows that are there.
        filled = {name for name in decision.columns if name not in self.source}
        merged = {row["id"]: row for row in self._kept(decision)}
        for row in rows:
            before = merged.get(row["id"], row)
            merged[row["id"]] = {**row, **{name: before[name] for name in filled}}
        return Copy(decision.columns, tuple(merged.values()))

    def _kept(self, decision: Decision) -> list[Row]:
        return [{name: row.get(name) for name in decision.columns} for row in self.copy.rows]

    def forget(self) -> None:
        """The watermark is deleted."""
        self.known = replace(self.known, mark=None)
