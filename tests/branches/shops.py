"""A shop in a git repository that is branched, run and promoted: everything real but Spark."""

import os
import shutil
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from rocky.cli.app import main
from rocky.evidence.verification import verify_evidence
from rocky.ledger import open_evidence_reader
from rocky.project.project import branch_state
from rocky.run.engine import spark
from rocky.store.parquet.rows import load_rows
from rocky.store.warehouse import Table, Warehouse, open_warehouse
from tests.run.memory_engine import MemoryEngine
from tests.run.runs import PROJECT, write
from tools import verify_run

INCREMENTAL = {
    "sources/events.toml": (
        '[[source]]\nname = "raw.events"\nformat = "csv"\npath = "data/events.csv"\n'
        'columns = [ { name = "id", type = "bigint" }, { name = "seen", type = "timestamp" } ]\n'
    ),
    "data/events.csv": "id,seen\n1,2026-01-01T00:00:00\n2,2026-01-02T00:00:00\n",
    "models/events.sql": "SELECT id, seen FROM raw.events",
    "models/events.toml": '[strategy]\ntype = "incremental"\ntimestamp_column = "seen"\n',
    "models/latest.sql": "SELECT id, country FROM stg_orders",
    "models/latest.toml": '[strategy]\ntype = "merge"\nunique_key = ["id"]\n',
}
TABLE = "spark_catalog.default."


@dataclass(frozen=True)
class Answer:
    code: int
    out: str
    err: str


class BranchShop:
    """One project in one repository. `rocky` runs a command line in it."""

    def __init__(self, root: Path) -> None:
        self.root = root

    def create(self) -> None:
        """Write the project and commit it."""
        root = self.root
        write(root, {**PROJECT, **INCREMENTAL, ".gitignore": "warehouse/\n.rocky*\n"})
        self.git("init", "-q", "-b", "main")
        self.git("config", "user.email", "ann@example.com")
        self.git("config", "user.name", "Ann")
        self.commit("the shop")

    def git(self, *arguments: str) -> str:
        done = subprocess.run(
            ["git", *arguments],
            cwd=self.root,
            capture_output=True,
            text=True,
            check=True,
            env=os.environ | {"GIT_CONFIG_GLOBAL": "/dev/null", "GIT_CONFIG_SYSTEM": "/dev/null"},
        )
        return done.stdout.strip()

    def commit(self, message: str) -> str:
        self.git("add", "-A")
        self.git("commit", "-qm", message)
        return self.git("rev-parse", "HEAD")

    def write(self, **files: str) -> None:
        """Replace models by their names."""
        write(self.root, {f"models/{name}.sql": text for name, text in files.items()})

    def rocky(self, *arguments: str) -> Answer:
        done = CliRunner().invoke(main, ["-o", "table", *arguments], catch_exceptions=False)
        return Answer(done.exit_code, done.stdout, done.stderr)

    def do(self, *arguments: str) -> str:
        """A command that must succeed; what it printed."""
        answer = self.rocky(*arguments)
        if answer.code:
            pytest.fail(f"rocky {' '.join(arguments)}: {answer.err}{answer.out}")
        return answer.out

    def warehouse(self, branch: str | None = None) -> Warehouse:
        place = "warehouse" if branch is None else f"warehouse/branch__{branch}"
        return open_warehouse(place, base=self.root)

    def table(self, name: str, branch: str | None = None) -> Table:
        folder = f"spark_catalog/default/{name}"
        found = {each.prefix: each for each in self.warehouse(branch).tables()}
        return found[folder]

    def rows(self, name: str, branch: str | None = None) -> list[tuple[Any, ...]]:
        table = self.table(name, branch)
        snapshot = table.snapshot()
        assert snapshot is not None
        return sorted(load_rows(table, snapshot, 100))

    def contents(self, branch: str | None = None) -> dict[str, tuple[int, tuple[str, ...]]]:
        """Every table's version and files."""
        found = {}
        for table in self.warehouse(branch).tables():
            snapshot = table.snapshot()
            assert snapshot is not None
            names = tuple(file.address for file in snapshot.files)
            found[table.prefix.rpartition("/")[2]] = snapshot.version, names
        return found

    def state(self, branch: str | None = None) -> Path:
        path = self.root / ".rocky-state.db"
        return path if branch is None else branch_state(path, branch)

    def findings(self, branch: str | None = None) -> list[str]:
        """What verifying finds, by Rocky and by the script that knows no Rocky."""
        reader = open_evidence_reader(self.state(branch))
        assert reader is not None
        with reader:
            found = verify_evidence(reader, lambda place: open_warehouse(place, base=self.root))
        audit = verify_run.Audit(verify_run.load(self.state(branch)))
        audit.check()
        return [f"{each.code} {each.where}: {each.message}" for each in found.findings] + [
            f"script: {each}" for each in audit.findings
        ]


def enter_shop(root: Path, patch: pytest.MonkeyPatch) -> None:
    """Work in a folder, with an engine without a JVM in the place of Spark."""

    @contextmanager
    def engine(*_: object) -> Iterator[MemoryEngine]:
        yield MemoryEngine(root)

    patch.chdir(root)
    patch.setattr(spark, "open_project_engine", engine)


class Template:
    """A shop that is made once and put back for every test, at the place it was made at.

    Its records name that place, so a copy elsewhere would be another shop.
    """

    def __init__(self, folder: Path, prepare: Callable[[BranchShop], None]) -> None:
        self._root, self._kept = folder / "shop", folder / "kept"
        self._root.mkdir()
        with pytest.MonkeyPatch.context() as patch:
            enter_shop(self._root, patch)
            self._shop = BranchShop(self._root)
            self._shop.create()
            prepare(self._shop)
        shutil.copytree(self._root, self._kept, symlinks=True)

    def put_back(self, patch: pytest.MonkeyPatch) -> BranchShop:
        shutil.rmtree(self._root)
        shutil.copytree(self._kept, self._root, symlinks=True)
        enter_shop(self._root, patch)
        return self._shop
