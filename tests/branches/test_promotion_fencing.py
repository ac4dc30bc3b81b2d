"""A promotion or a revert whose process was stopped past its claim moves nothing when it goes on."""

import os
import shutil
import signal
import time
from functools import partial
from pathlib import Path

import pytest

from rocky.cli.app import main
from rocky.ledger.claims import claims_folder
from rocky.operations.branch import promotion
from rocky.state import session
from rocky.store.journal import has_journal
from tests.branches.shops import TABLE, BranchShop, Template, enter_shop
from tests.branches.test_branches_elsewhere import machine_of
from tests.processes import Running, is_stopped
from tests.servers.s3 import s3_environment, s3_server

pytestmark = [pytest.mark.slow, pytest.mark.sampled]

MORE = "SELECT id, country, id * 2 AS twice FROM raw.orders"
CLAIM_SECONDS = 1.0
STEPS = ("files", "journal", f"commit {TABLE}latest", "records", "clear")
ENDED = 1


def prepare(shop: BranchShop) -> None:
    shop.write(latest="SELECT * FROM stg_orders")
    shop.commit("all columns")
    shop.do("run")
    shop.do("branch", "create", "b1")
    shop.write(stg_orders=MORE)
    shop.do("run", "--branch", "b1")


@pytest.fixture(scope="module")
def branched(tmp_path_factory) -> Template:
    return Template(tmp_path_factory.mktemp("fenced"), prepare)


@pytest.fixture
def shop(branched, monkeypatch) -> BranchShop:
    return branched.put_back(monkeypatch)


@pytest.fixture(scope="module")
def s3():
    with s3_server() as endpoint:
        yield endpoint


def stop_at(step: str, line: tuple[str, ...]) -> None:
    """Run a command in this process, which is stopped once when a step is reached."""
    left = [step]

    def watch(reached: str) -> None:
        if reached in left:
            left.clear()
            os.kill(os.getpid(), signal.SIGSTOP)

    for name in ("promote_tables", "revert_tables", "recover_promotions"):
        setattr(promotion, name, partial(getattr(promotion, name), watch=watch))
    assert session.open_session.__kwdefaults__ is not None
    session.open_session.__kwdefaults__["claim_seconds"] = CLAIM_SECONDS
    main(line)


def wait_stopped(process: Running) -> None:
    while not is_stopped(process.pid):
        if process.poll() is not None:
            pytest.fail("".join(process.communicate()))
        time.sleep(0.02)


def take_over(shop: BranchShop) -> None:
    """What whoever comes next does: build the tables, or finish what was written down."""
    if has_journal(shop.warehouse()):
        shop.do("branch", "recover")
    else:
        (shop.root / "data/orders.csv").write_text("id,country\n1,DE\n7,FR\n")
        shop.do("run", "stg_orders")


@pytest.mark.parametrize("command", ["promote", "revert"])
@pytest.mark.parametrize("step", STEPS)
def test_one_whose_claim_was_taken_away_goes_no_further(shop, step, command):
    if command == "revert":
        shop.do("branch", "promote", "b1")
    with Running(stop_at, step, ("branch", command, "b1"), cwd=shop.root) as stopped:
        wait_stopped(stopped)
        shutil.rmtree(claims_folder(shop.state()))
        take_over(shop)
        after = shop.contents()
        stopped.send_signal(signal.SIGCONT)
        _, said = stopped.communicate()

    assert ENDED == stopped.wait()
    assert "was removed while its process was at work" in said
    assert after == shop.contents()
    assert not has_journal(shop.warehouse())
    assert [] == shop.findings()


@pytest.mark.server
@pytest.mark.parametrize(
    "command", ["promote", pytest.param("revert", marks=pytest.mark.exhaustive)]
)
@pytest.mark.parametrize("step", STEPS)
def test_one_that_another_machine_took_over_from_goes_no_further(
    s3, tmp_path, monkeypatch, step, command
):
    for name, value in s3_environment(s3).items():
        monkeypatch.setenv(name, value)
    monkeypatch.setitem(session.open_session.__kwdefaults__, "claim_seconds", CLAIM_SECONDS)
    first = machine_of(tmp_path / "first", tmp_path / "warehouse")
    enter_shop(first.root, monkeypatch)
    prepare(first)
    if command == "revert":
        first.do("branch", "promote", "b1")
    second = _second(first, tmp_path / "second")
    with Running(stop_at, step, ("branch", command, "b1"), cwd=first.root) as stopped:
        wait_stopped(stopped)
        time.sleep(CLAIM_SECONDS)
        enter_shop(second.root, monkeypatch)
        take_over(second)
        after = contents(tmp_path / "warehouse")
        stopped.send_signal(signal.SIGCONT)
        _, said = stopped.communicate()

    assert ENDED == stopped.wait(), said
    assert "claim" in said or "died" in said, said
    assert after == contents(tmp_path / "warehouse")
    assert second.do("verify").startswith("verified:")


def _second(first: BranchShop, root: Path) -> BranchShop:
    shutil.copytree(first.root, root, ignore=shutil.ignore_patterns(".rocky-state*"))
    return BranchShop(root)


def contents(warehouse: Path) -> dict[str, bytes]:
    """The logs of all tables of production."""
    return {
        str(path): path.read_bytes()
        for path in warehouse.glob("spark_catalog/**/_delta_log/*.json")
    }
