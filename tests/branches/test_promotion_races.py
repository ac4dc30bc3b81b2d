"""Promotions that meet runs, other promotions, and writers that ask no ledger."""

import subprocess
import sys
import time
from datetime import UTC, datetime
from pathlib import Path

import pytest

from rocky.ledger import open_ledger
from rocky.ledger.branches import load_promotions
from rocky.ledger.run_records import RunStatus
from rocky.operations.branch import promotion as operation
from rocky.store.delta.change import Change
from rocky.store.journal import has_journal
from tests.branches.shops import TABLE, BranchShop, Template
from tests.ledger.conftest import a_run

MORE = "SELECT id, country, id * 2 AS twice FROM raw.orders"
SOURCES = Path(__file__).parents[2] / "src"


def prepare(shop: BranchShop) -> None:
    shop.write(latest="SELECT * FROM stg_orders")
    shop.commit("all columns")
    shop.do("run")
    shop.do("branch", "create", "b1")
    shop.write(stg_orders=MORE)
    shop.do("run", "--branch", "b1")


@pytest.fixture(scope="module")
def branched(tmp_path_factory) -> Template:
    return Template(tmp_path_factory.mktemp("races"), prepare)


@pytest.fixture
def shop(branched, monkeypatch) -> BranchShop:
    return branched.put_back(monkeypatch)


def change_by_hand(shop: BranchShop, name: str) -> None:
    """What another tool does: a commit that no ledger knows of."""
    table = shop.table(name)
    snapshot = table.snapshot()
    table.commit(
        Change("REPLACE", snapshot, snapshot.schema, (), snapshot.files, info={"by": "me"})
    )


def test_while_a_run_writes_a_table_it_is_not_promoted(shop):
    before = shop.contents()
    with open_ledger(shop.state()) as ledger:
        record = a_run(datetime.now(UTC), warehouse=str(shop.root / "warehouse"))
        run_id = ledger.begin_run(record, [f"{TABLE}latest"])
        answer = shop.rocky("branch", "promote", "b1")
        ledger.finish_run(run_id, RunStatus.FAILURE, datetime.now(UTC), reason="stopped")

    assert 1 == answer.code
    assert f"{TABLE}latest" in answer.err
    assert before == shop.contents()
    shop.do("branch", "promote", "b1")
    assert [] == shop.findings()


@pytest.mark.parametrize("step", [f"commit {TABLE}latest", f"commit {TABLE}stg_orders"])
def test_a_table_that_another_tool_changes_meanwhile_undoes_all(shop, monkeypatch, step):
    before = {name: files for name, (_, files) in shop.contents().items()}
    name = step.rpartition(".")[2]
    promote = operation.promote_tables

    def meddle(reached: str) -> None:
        if reached == "commits":
            change_by_hand(shop, name)

    monkeypatch.setattr(operation, "promote_tables", lambda *given: promote(*given, watch=meddle))
    answer = shop.rocky("branch", "promote", "b1")

    assert 1 == answer.code
    assert (
        f"nothing was promoted: `{TABLE}{name}` could not be moved: it was changed by somebody else"
        in answer.err
    )
    assert before == {each: files for each, (_, files) in shop.contents().items()}
    assert not has_journal(shop.warehouse())
    (undone,) = load_promotions(shop.state())
    assert ("undone", ()) == (undone.kind, undone.tables)
    # The commit by hand is what it is; all of Rocky's own are explained.
    assert {f"foreign_commit {name}"} == {
        f"{each.split()[0]} {name}" for each in shop.findings() if not each.startswith("script")
    }


def test_two_promotions_at_once_move_each_table_once(shop):
    shop.do("branch", "create", "b2")
    shop.do("run", "--branch", "b2")
    line = [sys.executable, "-m", "rocky.cli", "-o", "table", "branch", "promote"]
    both = [
        subprocess.Popen(
            [*line, name], cwd=shop.root, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
        for name in ("b1", "b2")
    ]
    said = [each.communicate(timeout=60) for each in both]

    codes = sorted(each.returncode for each in both)
    # The second finds its tables claimed, moved, or as it would have made them.
    assert (codes[0], codes) in ((0, [0, 0]), (0, [0, 1])), said
    assert 1 == shop.table("stg_orders").snapshot().version
    assert [] == shop.findings()


def test_a_run_and_a_promotion_at_once_lose_nothing(shop):
    """Whoever is second is refused or finds what the first has left; what is there verifies."""
    run = (
        "import sys; from contextlib import contextmanager; from pathlib import Path;"
        " from rocky.run.engine import spark; from tests.run.memory_engine import MemoryEngine;"
        " spark.open_project_engine ="
        " contextmanager(lambda *_: (yield MemoryEngine(Path.cwd())));"
        " from rocky.cli.app import main; main(['-o', 'table', 'run', '--force-rebuild'])"
    )
    root = str(SOURCES.parent)
    env = {"PYTHONPATH": f"{SOURCES}:{root}", "PATH": "/usr/bin:/bin", "HOME": str(shop.root)}
    for _ in range(2):
        running = subprocess.Popen(
            [sys.executable, "-c", run], cwd=shop.root, env=env, stderr=subprocess.DEVNULL
        )
        time.sleep(0.4)
        promoting = subprocess.run(
            [sys.executable, "-m", "rocky.cli", "branch", "promote", "b1"],
            cwd=shop.root,
            env=env,
            capture_output=True,
            check=False,
        )
        assert 0 == running.wait(timeout=60)
        assert promoting.returncode in (0, 1)
        assert [] == shop.findings()
        assert not has_journal(shop.warehouse())
