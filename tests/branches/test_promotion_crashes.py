"""A promotion or a revert whose process is killed, at every step: production is old or new, whole."""

import os
import shutil
from functools import partial

import pytest

from rocky.cli.app import main
from rocky.ledger.branches import load_promotions
from rocky.operations.branch import promotion
from rocky.store.journal import has_journal
from tests.branches.shops import TABLE, BranchShop, Template
from tests.processes import run_process

pytestmark = [pytest.mark.sampled, pytest.mark.slow]

MORE = "SELECT id, country, id * 2 AS twice FROM raw.orders"
MOVED = ("stg_orders", "latest", "extra")
STEPS = (
    "files",
    "journal",
    "commits",
    *(f"commit {TABLE}{name}" for name in MOVED),
    "records",
    "clear",
    "end",
)
HALF = f"commit {TABLE}latest"
KILLED = 9

Files = dict[str, tuple[str, ...]]


def prepare(shop: BranchShop) -> None:
    shop.write(latest="SELECT * FROM stg_orders")
    shop.commit("all columns")
    shop.do("run")
    shop.do("branch", "create", "b1")
    shop.write(stg_orders=MORE, extra="SELECT id, twice FROM stg_orders")
    shop.do("run", "--branch", "b1")


@pytest.fixture(scope="module")
def branched(tmp_path_factory) -> Template:
    return Template(tmp_path_factory.mktemp("crashes"), prepare)


@pytest.fixture
def shop(branched, monkeypatch) -> BranchShop:
    return branched.put_back(monkeypatch)


def files_of(shop: BranchShop) -> Files:
    return {name: files for name, (_, files) in shop.contents().items()}


def die_at(step: str, line: tuple[str, ...]) -> None:
    """Run a command in this process, which ends when a step is reached."""

    def watch(reached: str) -> None:
        if reached == step:
            os._exit(KILLED)

    for name in ("promote_tables", "revert_tables", "recover_promotions"):
        setattr(promotion, name, partial(getattr(promotion, name), watch=watch))
    main(line)


def kill(shop: BranchShop, step: str, *line: str) -> None:
    """Run a command in a process of its own that is killed before a step."""
    code, _, said = run_process(die_at, step, line, cwd=shop.root)
    assert (KILLED, "") == (code, said)


@pytest.mark.slow
@pytest.mark.parametrize("step", STEPS)
def test_a_killed_promotion_is_finished_or_never_was(shop, step):
    old = files_of(shop)

    kill(shop, step, "branch", "promote", "b1")
    shop.do("branch", "recover")

    new = {name: files for name, (_, files) in shop.contents("b1").items()}
    begun = step not in ("files", "journal")
    assert (new if begun else old) == files_of(shop)
    assert not has_journal(shop.warehouse())
    assert [] == shop.findings()
    shop.do("branch", "recover")
    if not begun:
        assert () == load_promotions(shop.state())
        shop.do("branch", "promote", "b1")
    assert 1 == len(load_promotions(shop.state()))
    assert [] == shop.findings()
    shop.do("run")
    assert new == files_of(shop)


@pytest.mark.slow
@pytest.mark.parametrize("step", ["journal", "commits", HALF, "records", "end"])
def test_a_killed_revert_is_finished_or_never_was(shop, step):
    old = files_of(shop)
    shop.do("branch", "promote", "b1")
    new = files_of(shop)

    kill(shop, step, "branch", "revert", "b1")
    shop.do("branch", "recover")

    begun = step not in ("files", "journal")
    back = {**old, "extra": new["extra"]}
    assert (back if begun else new) == files_of(shop)
    assert not has_journal(shop.warehouse())
    assert [] == shop.findings()


@pytest.mark.slow
@pytest.mark.parametrize("step", ["commits", f"commit {TABLE}latest", "records"])
def test_a_recovery_that_is_killed_too_is_finished_by_the_next(shop, step):
    kill(shop, f"commit {TABLE}extra", "branch", "promote", "b1")
    kill(shop, step, "branch", "recover")

    shop.do("branch", "recover")

    assert {name: files for name, (_, files) in shop.contents("b1").items()} == files_of(shop)
    assert [] == shop.findings()


def test_until_it_is_recovered_nobody_builds_on_half_of_it(shop):
    kill(shop, f"commit {TABLE}latest", "branch", "promote", "b1")

    said = shop.do("run")

    assert not has_journal(shop.warehouse())
    assert {name: files for name, (_, files) in shop.contents("b1").items()} == files_of(shop)
    assert [] == shop.findings()
    assert said


def test_half_of_a_promotion_is_said_by_verify_and_keeps_others_away(shop):
    kill(shop, HALF, "branch", "promote", "b1")

    answer = shop.rocky("verify")
    assert 1 == answer.code
    assert "promotion_unfinished" in answer.out
    assert "a promotion was interrupted" in shop.rocky("branch", "create", "b2").err
    collected = shop.rocky("gc")
    assert "`rocky branch recover` first" in collected.out + collected.err


def test_a_file_that_is_gone_after_the_crash_undoes_all(shop):
    old = files_of(shop)
    kill(shop, "commits", "branch", "promote", "b1")
    for file in shop.table("latest", "b1").snapshot().files:
        (shop.root / "warehouse/spark_catalog/default/latest" / file.path).unlink()

    answer = shop.rocky("branch", "recover")

    assert 1 == answer.code
    assert "undone" in answer.out
    new = files_of(shop)
    # What the promotion made stays; nobody read it before.
    assert old == {name: files for name, files in new.items() if name != "extra"}
    assert not has_journal(shop.warehouse())
    assert [] == [each for each in shop.findings() if "latest" not in each]
    shop.do("run", "--model", "alone")


def test_a_table_that_is_gone_after_the_crash_undoes_all(shop):
    old = files_of(shop)
    kill(shop, HALF, "branch", "promote", "b1")
    shutil.rmtree(shop.root / "warehouse/spark_catalog/default/latest")

    answer = shop.rocky("branch", "recover")

    assert (1, False) == (answer.code, has_journal(shop.warehouse()))
    assert old["stg_orders"] == files_of(shop)["stg_orders"]


def test_a_journal_of_a_lost_ledger_can_be_given_up(shop):
    kill(shop, "commits", "branch", "promote", "b1")
    for path in shop.root.glob(".rocky-state.db*"):
        shutil.rmtree(path) if path.is_dir() else path.unlink()
    answer = shop.rocky("branch", "recover")
    assert 1 == answer.code
    forget = answer.err.partition("`rocky branch recover --forget ")[2].partition("`")[0]

    said = shop.do("branch", "recover", "--forget", forget)

    assert f"{TABLE}latest: not moved" in said
    assert not has_journal(shop.warehouse())


def test_a_process_that_dies_while_it_undoes_leaves_that_to_the_next(shop, monkeypatch):
    kill(shop, "commits", "branch", "promote", "b1")
    old = files_of(shop)
    for file in shop.table("latest", "b1").snapshot().files:
        (shop.root / "warehouse/spark_catalog/default/latest" / file.path).unlink()
    with monkeypatch.context() as patch:

        def die(*_: object) -> None:
            raise KeyboardInterrupt

        patch.setattr("rocky.branches.promotion.moves.record_promotion_tables", die)
        assert 130 == shop.rocky("branch", "recover").code

    shop.rocky("branch", "recover")

    assert old == {name: files for name, files in files_of(shop).items() if name != "extra"}
    assert not has_journal(shop.warehouse())
