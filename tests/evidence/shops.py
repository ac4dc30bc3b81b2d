"""A shop that has run often enough to have everything: reuse, a checkpoint, an older ledger."""

import json
import shutil
import sqlite3
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from rocky.evidence.findings import Finding
from rocky.evidence.scope import EVERYTHING, VerificationScope
from rocky.evidence.verification import Verification, verify_evidence
from rocky.ledger import open_evidence_reader
from rocky.ledger.schema import TABLES
from rocky.store.warehouse import open_warehouse
from tests.run.runs import Shop
from tests.table_files import data_files
from tools.verify_run import Audit, load

STATE = ".rocky-state.db"
RUNS = 4


def write_orders(root: Path, rows: int) -> None:
    lines = [f"{row},{'DE' if row % 3 else 'FR'}\n" for row in range(1, rows + 1)]
    (root / "data/orders.csv").write_text("id,country\n" + "".join(lines))


def verify(
    root: Path, scope: VerificationScope = EVERYTHING, warehouse: Path | None = None
) -> Verification:
    """What the library says of a project."""
    reader = open_evidence_reader(root / STATE)
    assert reader is not None
    with reader:
        return verify_evidence(
            reader, lambda place: open_warehouse(str(warehouse or place), base=root), scope
        )


def audit(root: Path, warehouse: Path | None = None) -> Audit:
    """What the script says of a project."""
    found = Audit(load(root / STATE), warehouse)
    found.check()
    return found


def codes(findings: tuple[Finding, ...]) -> list[str]:
    return sorted({each.code.value for each in findings})


def script_codes(found: Audit) -> list[str]:
    return sorted({line.partition(":")[0] for line in found.findings})


@dataclass
class Recorded:
    """A project after its runs, which can be put back as it was.

    `older` are copies of the ledger as each run left it, `anchors` of the anchor. `ends` are the
    entries of the chain that the runs ended with, `heads` the hashes of all. The run `idle` found
    everything as it was.
    """

    root: Path
    older: list[bytes] = field(default_factory=list)
    anchors: list[bytes] = field(default_factory=list)
    ends: list[int] = field(default_factory=list)
    heads: dict[int, str] = field(default_factory=dict)
    runs: frozenset[str] = frozenset()
    idle: str = ""
    _files: dict[Path, bytes] = field(default_factory=dict)

    @classmethod
    def make(cls, root: Path) -> "Recorded":
        shop = Shop(root)
        recorded = cls(root)
        with pytest.MonkeyPatch.context() as patch:
            # A checkpoint after three runs instead of eleven: there are hundreds of checks to make.
            patch.setattr("rocky.store.delta.log.CHECKPOINT_INTERVAL", 2)
            for number in range(RUNS):
                write_orders(root, 3 + number)
                # All models in the first run and in the last, one in between.
                shop.run(*(() if number in (0, RUNS - 1) else ("stg_orders",)))
                recorded.older.append((root / STATE).read_bytes())
                recorded.anchors.append(recorded.anchor().read_bytes())
        # Nothing changed, so everything is reused, and then one row says so; then it is as it was at
        # first, and the files of the first run are committed again.
        shop.run()
        shop.run()
        write_orders(root, 3)
        shop.run()
        shutil.rmtree(root / f"{STATE}.runs", ignore_errors=True)
        with open_evidence_reader(root / STATE) as reader:
            entries = [reader.entries_of_run(run_id) for run_id, _ in reader.rows("run_history")]
            recorded.ends = [last for _, last in filter(None, entries)]
            runs = [run_id for run_id, _ in reader.rows("run_history")]
            recorded.runs, recorded.idle = frozenset(runs), runs[RUNS]
            stored = (json.loads(text) for _, text in reader.rows("evidence_chain"))
            recorded.heads = {each["seq"]: each["entry_hash"] for each in stored}
        recorded._files = recorded._read()
        return recorded

    @property
    def state(self) -> Path:
        return self.root / STATE

    @property
    def warehouse(self) -> Path:
        return self.root / "warehouse"

    def data_files(self) -> list[Path]:
        return data_files(self.warehouse)

    def commits(self) -> list[Path]:
        return sorted(self.warehouse.glob("*/*/*/_delta_log/*.json"))

    def log_files(self, name: str) -> list[Path]:
        return sorted(self.warehouse.glob(f"*/*/*/_delta_log/{name}"))

    def anchor(self) -> Path:
        (found,) = self.warehouse.glob("_rocky/*.json")
        return found

    def edit_json(self, path: Path, key: str, value: object) -> None:
        document = json.loads(path.read_bytes())
        document[key] = value
        path.write_text(json.dumps(document, sort_keys=True, separators=(",", ":")))

    def is_untouched(self) -> bool:
        return self._read() == self._files

    def changed_rows(self) -> set[tuple[str, str]]:
        """Table and key of the rows of the ledger that are not as they were."""
        before = self.root / "before.db"
        before.write_bytes(self._files[self.state])
        found = [_rows_of(path) for path in (self.state, before)]
        before.unlink()
        return {(table, key) for table, key, _ in found[0] ^ found[1]}

    def restore(self) -> None:
        """Put every file back."""
        now = self._read()
        for path in now.keys() - self._files.keys():
            path.unlink()
        for path, data in self._files.items():
            if now.get(path) != data:
                path.write_bytes(data)

    def _read(self) -> dict[Path, bytes]:
        folders = (path for path in (*self.warehouse.rglob("*"), *self.root.glob(f"{STATE}*")))
        return {path: path.read_bytes() for path in folders if path.is_file()}


def _rows_of(path: Path) -> set[tuple[str, str, str]]:
    with closing(sqlite3.connect(path)) as file:
        file.text_factory = bytes
        return {
            (table, key.decode("utf-8", "replace"), value)
            for table in TABLES
            for key, value in file.execute(f"SELECT key, value FROM {table}")
        }
