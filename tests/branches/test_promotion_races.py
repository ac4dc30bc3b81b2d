"""Promotions that meet runs, other promotions, and writers that ask no ledger."""

import time
from datetime import UTC, datetime
from pathlib import Path

import pytest

from rocky.cli.app import main
from rocky.ledger import open_ledger
from rocky.ledger.branches import load_promotions
from rocky.ledger.run_records import RunStatus
from rocky.operations.branch import promotion as operation
from rocky.store.delta.change import Change
from rocky.store.journal import has_journal
from tests.branches.shops import TABLE, BranchShop, Template, enter_shop
from tests.ledger.conftest import a_run
from tests.processes import Running

pytestmark = pytest.mark.slow

MORE = "SELECT id, country, id * 2 AS twice FROM raw.orders"


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


def run_beside(root: Path, *line: str) -> None:
    """A task: a command line in a shop, with the engine that needs no JVM."""
    with pytest.MonkeyPatch.context() as patch:
        enter_shop(root, patch)
        main(["-o", "table", *line])


def start(shop: BranchShop, *line: str) -> Running:
    return Running(run_beside, shop.root, *line, cwd=shop.root)


@pytest.mark.slow
def test_two_promotions_at_once_move_each_table_once(shop):
    shop.do("branch", "create", "b2")
    shop.do("run", "--branch", "b2")
    with (
        start(shop, "branch", "promote", "b1") as one,
        start(shop, "branch", "promote", "b2") as two,
    ):
        both = (one, two)
        said = [each.communicate(timeout=60) for each in both]

    codes = sorted(each.wait() for each in both)
    # The second finds its tables claimed, moved, or as it would have made them.
    assert codes in ([0, 0], [0, 1]), said
    assert 1 == shop.table("stg_orders").snapshot().version
    assert [] == shop.findings()


@pytest.mark.slow
def test_a_run_and_a_promotion_at_once_lose_nothing(shop):
    """Whoever is second is refused or finds what the first has left; what is there verifies."""
    for _ in range(2):
        with start(shop, "run", "--force-rebuild") as running:
            time.sleep(0.05)
            with start(shop, "branch", "promote", "b1") as promoting:
                promoting.communicate()
            running.communicate()
        assert 0 == running.wait()
        assert promoting.wait() in (0, 1)
        assert [] == shop.findings()
        assert not has_journal(shop.warehouse())
