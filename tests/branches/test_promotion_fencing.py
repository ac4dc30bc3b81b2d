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
from rocky.store import branch_folder
from rocky.store.journal import has_journal
from rocky.store.objects import Objects
from tests.branches.shops import TABLE, BranchShop, Template, enter_shop
from tests.branches.test_branches_elsewhere import machine_of
from tests.processes import Running, is_stopped
from tests.servers.s3 import s3_environment, s3_server

pytestmark = [pytest.mark.slow, pytest.mark.sampled]

MORE = "SELECT id, country, id * 2 AS twice FROM raw.orders"
CLAIM_SECONDS = 1.0
LAPSE_SECONDS = CLAIM_SECONDS + 1
"""A bucket tells times to the second."""
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
        time.sleep(LAPSE_SECONDS)
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


def stop_in_deletion(name: str) -> None:
    """Delete a branch in this process, which is stopped when a few of its files are gone."""
    delete, done = Objects.delete, []

    def stop(objects: Objects, paths: list[str]) -> None:
        delete(objects, paths)
        done.append(paths)
        if len(done) == 2:
            os.kill(os.getpid(), signal.SIGSTOP)
            # The signal reaches another thread first: this one is to be stopped here, and not
            # between its next look at the claim and the removal.
            time.sleep(0.5)

    Objects.delete = stop  # type: ignore[method-assign,assignment]
    # One file after the other, and stopped between two: a removal that is under way is ended.
    branch_folder._DELETE_THREADS = 1  # type: ignore[misc]
    assert session.open_session.__kwdefaults__ is not None
    session.open_session.__kwdefaults__["claim_seconds"] = CLAIM_SECONDS
    main(("branch", "delete", name))


@pytest.mark.server
def test_a_deletion_that_was_stopped_spares_a_branch_that_was_made_anew(s3, tmp_path, monkeypatch):
    for name, value in s3_environment(s3).items():
        monkeypatch.setenv(name, value)
    monkeypatch.setitem(session.open_session.__kwdefaults__, "claim_seconds", CLAIM_SECONDS)
    first = machine_of(tmp_path / "first", tmp_path / "warehouse")
    enter_shop(first.root, monkeypatch)
    prepare(first)
    second = _second(first, tmp_path / "second")
    with Running(stop_in_deletion, "b1", cwd=first.root) as stopped:
        wait_stopped(stopped)
        time.sleep(LAPSE_SECONDS)
        enter_shop(second.root, monkeypatch)
        second.do("branch", "delete", "b1")
        second.do("branch", "create", "b1")
        stopped.send_signal(signal.SIGCONT)
        _, said = stopped.communicate()

    assert ENDED == stopped.wait(), said
    assert second.do("verify", "--branch", "b1").startswith("verified:")
    assert len(second.do("branch", "show", "b1")) > 0
