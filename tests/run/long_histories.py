"""Long histories, made quickly: a project that was run for real, and its idle runs written again.

The project's tables are built by the tests' engine, which needs no JVM, again and again over the
history; in between stand runs that built nothing. Those are what a real run of that kind has just
written, under other ids and times, through the writer that real runs use: in order, chained, and in
few transactions. So `rocky verify` finds nothing in such a ledger, which every caller checks.
"""

import json
import sqlite3
from contextlib import closing
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from rocky.ledger.chain import FENCE_COUNTER
from rocky.ledger.record import format_time, run_id_at
from rocky.ledger.schema import RowWriter
from rocky.ledger.writer import open_ledger
from tests.run.runs import NEVER_NS, Shop

RUNS_AT_ONCE = 500
BUILDS = 20
"""How often the tables change over a history, however long it is."""
APART = timedelta(minutes=5)
_LATER = ("models_executed", "finished_at", "totals", "anchored")
"""What the record of a run says only once it has ended."""


@dataclass(frozen=True, slots=True)
class IdleRun:
    """The rows that a run has written which built nothing, in the order of the chain."""

    run_id: str
    moment: datetime
    rows: tuple[tuple[str, str, str], ...]

    def write(self, rows: RowWriter, moment: datetime, fence: int) -> None:
        """The same rows as those of a run at another moment."""
        run_id, now = run_id_at(moment), format_time(moment)

        def moved(text: str) -> str:
            return text.replace(self.run_id, run_id).replace(format_time(self.moment), now)

        for table, key, value in self.rows:
            said = moved(value)
            if table == "run_history":
                said = _with_fence(said, fence)
            rows.put(table, moved(key), said)


def _with_fence(text: str, fence: int) -> str:
    document = json.loads(text) | {"fence": fence}
    return json.dumps(document, ensure_ascii=False, sort_keys=True, separators=(",", ":"))


def read_idle_run(state: Path, moment: datetime) -> IdleRun:
    """The newest run of a ledger, which must have built nothing, at `moment`."""
    with closing(sqlite3.connect(state)) as file:
        (run_id,) = file.execute("SELECT max(key) FROM run_history").fetchone()
        entries = file.execute(
            "SELECT value ->> 'table', value ->> 'key' FROM evidence_chain"
            " WHERE (value ->> 'key') = ? OR (value ->> 'key') LIKE ? ORDER BY key",
            (run_id, f"{run_id}|%"),
        ).fetchall()
        rows: list[tuple[str, str, str]] = []
        for table, key in entries:
            found = file.execute(f"SELECT value FROM {table} WHERE key = ?", (key,))
            (value,) = found.fetchone()
            begins = table == "run_history" and not rows
            rows.append((table, key, _begun(value) if begins else value))
    return IdleRun(run_id, moment, tuple(rows))


def _begun(text: str) -> str:
    document: dict[str, Any] = json.loads(text)
    begun = {name: value for name, value in document.items() if name not in _LATER}
    begun |= {"models_executed": [], "status": "Running"}
    return json.dumps(begun, ensure_ascii=False, sort_keys=True, separators=(",", ":"))


class LongHistory:
    """A shop whose ledger grows to as many runs as are asked for."""

    def __init__(
        self, root: Path, files: dict[str, str] | None = None, builds: int = BUILDS
    ) -> None:
        self.shop = Shop(root, files)
        self.shop.settled_ns = NEVER_NS
        self._builds = builds
        self.state = root / ".rocky-state.db"
        self.runs = 0
        self._built = 0

    def grow(self, runs: int) -> None:
        """Go on until the ledger has about so many runs; the last of them is a real one."""
        step = max(2, runs // self._builds)
        while self.runs < runs:
            self._build()
            left = min(step, runs - self.runs) - 1
            self._repeat(max(0, left))
            self._run()

    def idle(self) -> None:
        """A run in which nothing has changed."""
        before = self.shop.opened
        self._run()
        assert before == self.shop.opened, "an engine was asked for"

    def _build(self) -> None:
        self._built += 1
        self.shop.write("data/orders.csv", f"id,country\n1,DE\n2,DE\n{self._built + 2},FR\n")
        self._run()
        self._run()

    def _run(self) -> None:
        self.runs += 1
        assert self.shop.run().exit_code == 0

    def _repeat(self, count: int) -> None:
        if not count:
            return
        template, now = read_idle_run(self.state, self.shop.now), self.shop.now
        with open_ledger(self.state) as ledger:
            for first in range(0, count, RUNS_AT_ONCE):
                with ledger.transaction() as rows:
                    fence = int(rows.find("metadata", FENCE_COUNTER) or 0)
                    for _ in range(min(RUNS_AT_ONCE, count - first)):
                        fence, now = fence + 1, now + APART
                        template.write(rows, now, fence)
                    rows.put("metadata", FENCE_COUNTER, str(fence))
        self.shop.wait(now)
        self.runs += count
