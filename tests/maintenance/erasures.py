"""A shop with people in it: tables that carry their key, tables that do not, and their past."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from rocky.ledger.erasure_records import ErasureRecord, load_erasures
from rocky.ledger.run_records import RunRecord
from rocky.operations.execution.run import run
from rocky.operations.governance.erase import EraseRequest, erase
from rocky.operations.governance.erase_report import EraseReport, TableErasure
from rocky.operations.maintenance.clear_versions import (
    ClearVersionsReport,
    ClearVersionsRequest,
    clear_versions,
)
from rocky.operations.workspace import Workspace
from rocky.plan.request import RunRequest
from rocky.project.models import Target
from rocky.run.engine import spark as engines
from rocky.store.warehouse import open_warehouse
from tests.maintenance.shops import AppendedShop
from tests.run.memory_engine import MemoryEngine
from tests.run.runs import Shop

SOURCE = (
    '[[source]]\nname = "raw.people"\nformat = "csv"\npath = "data/people.csv"\n'
    'columns = [ { name = "person_id", type = "bigint" }, { name = "mail", type = "string" },'
    ' { name = "day", type = "date" } ]\n'
)
FIRST, LAST = "aaa-first@example.org", "zzz-last@example.org"
"""The mails of the subject: the lowest and the highest, so that statistics have them."""
SUBJECT = 987654321012345
WHERE = f"person_id = {SUBJECT}"
REASON = "request 17 of 2026"
PEOPLE = "spark_catalog.default.people"


class PeopleShop(AppendedShop):
    """`people` is appended to, `contacts` renames the key, `mails` drops it, `totals` counts."""

    def __init__(self, root: Path, monkeypatch: Any) -> None:
        super().__init__(root, monkeypatch)
        monkeypatch.setattr(MemoryEngine, "tells_bounds", True)
        for each in ("events", "totals"):
            (root / f"models/{each}.sql").unlink(missing_ok=True)
        (root / "models/events.toml").unlink(missing_ok=True)
        self.write("sources/people.toml", SOURCE)
        self.write("models/people.sql", "SELECT person_id, mail, day FROM raw.people")
        self.write(
            "models/people.toml",
            '[strategy]\ntype = "incremental"\ntimestamp_column = "day"\n',
        )
        self.write("models/contacts.sql", "SELECT person_id AS who, mail FROM people")
        self.write("models/mails.sql", "SELECT mail FROM people")
        self.write("models/counts.sql", "SELECT day, count(*) AS n FROM people GROUP BY day")

    names = ("people", "contacts", "mails", "counts")

    def make_runs(self) -> None:
        for day in (1, 2, 3):
            self.write_people(day)
            assert 0 == self.build().exit_code

    def write_people(self, days: int, subject: bool = True) -> None:
        """Ten people a day; the subject comes on the second, twice."""
        lines = []
        for day in range(1, days + 1):
            rows = [(100 * day + n, f"p{day}{n}@example.org") for n in range(10)]
            rows += [(SUBJECT, FIRST), (SUBJECT, LAST)] if day == 2 and subject else []
            lines += [f"{who},{mail},2026-01-0{day}\n" for who, mail in rows]
        self.write("data/people.csv", "person_id,mail,day\n" + "".join(lines))

    def build(self, *names: str) -> Any:
        """A run of some models; without names of all."""
        return run(self.workspace, RunRequest(names or self.names))

    def erase(self, where: str = WHERE, **more: Any) -> EraseReport:
        return erase(self.workspace, EraseRequest(where, **more))

    def apply(self, where: str = WHERE, **more: Any) -> EraseReport:
        return self.erase(where, apply=True, reason=REASON, **more)

    def table(self, report: EraseReport, name: str) -> TableErasure:
        return next(each for each in report.tables if each.table.endswith(f".{name}"))

    def rows_of(self, name: str) -> list[tuple[object, ...]]:
        return Shop.rows(self, name)  # type: ignore[arg-type] # it asks for the root alone

    def names_at(self, name: str, version: int | None = None) -> set[str]:
        """The files that a version of a table has; without one, the newest."""
        table = open_warehouse("warehouse", base=self.root).table(
            Target("spark_catalog", "default", name)
        )
        snapshot = table.snapshot(version)
        assert snapshot is not None
        return {each.name for each in snapshot.files}

    def on_disk(self, name: str) -> set[str]:
        """The data files in the folder of a table."""
        folder = self.root / "warehouse/spark_catalog/default" / name
        return {each.name for each in folder.glob("?" * 64 + ".parquet")}

    @property
    def certificates(self) -> tuple[ErasureRecord, ...]:
        return load_erasures(self.root / ".rocky-state.db")

    def places_of(self, *texts: str, besides: tuple[str, ...] = ()) -> set[str]:
        """The files below the project that hold one of some texts."""
        found = set()
        for path in self.root.rglob("*"):
            name = path.relative_to(self.root).as_posix()
            if path.is_file() and not name.startswith(besides):
                data = path.read_bytes()
                if data[-4:] == b"PAR1":
                    # What is compressed is not found by its bytes.
                    data += str(pq.read_table(path, partitioning=None).to_pylist()).encode()
                if any(each.encode() in data for each in texts):
                    found.add(name)
        return found


@contextmanager
def memory_engine() -> Iterator[pytest.MonkeyPatch]:
    @contextmanager
    def open_memory(_adapter: Any, base: Path, *_more: Any) -> Iterator[MemoryEngine]:
        yield MemoryEngine(base)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(engines, "open_project_engine", open_memory)
        patch.setattr(MemoryEngine, "tells_bounds", True)
        yield patch


def workspace_at(root: str) -> Workspace:
    return Workspace(Path(root), spark="a session")


class MaskedShop(PeopleShop):
    """The same people: three runs wrote their mails clear, then a mask was added and a fourth run.

    `contacts` and `mails` take the masked column from `people`.
    """

    def __init__(self, root: Path, monkeypatch: Any) -> None:
        super().__init__(root, monkeypatch)
        tagged = '"mail", type = "string", classification = "pii"'
        self.write("sources/people.toml", SOURCE.replace('"mail", type = "string"', tagged))
        settings = (root / "rocky.toml").read_text()
        self.unmasked = f'{settings}\n[mask]\npii = "none"\n'
        self.masked = f'{settings}\n[mask]\npii = "redact"\n'
        self.write("rocky.toml", self.masked if self.has_run else self.unmasked)

    @property
    def has_run(self) -> bool:
        return (self.root / ".rocky-state.db").exists()

    def make_runs(self) -> None:
        super().make_runs()
        self.write("rocky.toml", self.masked)
        assert 0 == self.build().exit_code

    def clear(self, **more: Any) -> ClearVersionsReport:
        return clear_versions(self.workspace, ClearVersionsRequest(**more))

    def running_record(self) -> RunRecord:
        record = replace(self.records()[0], models_executed=(), finished_at=None, reason=None)
        return replace(record, started_at=datetime.now(UTC))
