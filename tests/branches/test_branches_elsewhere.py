"""Branches whose state is kept elsewhere, and whose tables lie in an object store."""

import os
import shutil
from pathlib import Path

import pytest

from rocky.errors import StateSyncFailed
from rocky.ledger.branches import load_promotions
from rocky.project import load_project
from rocky.project.models import Target
from rocky.project.project import on_branch
from rocky.state.session import RemoteSession, open_session
from rocky.store.warehouse import open_warehouse
from tests.branches.shops import TABLE, BranchShop, enter_shop
from tests.servers.s3 import BUCKET, s3_environment, s3_server

pytestmark = [pytest.mark.slow, pytest.mark.server]
MORE = "SELECT id, country, id * 2 AS twice FROM raw.orders"


@pytest.fixture(scope="module")
def s3():
    with s3_server() as endpoint:
        yield endpoint


@pytest.fixture
def machines(s3, tmp_path, monkeypatch) -> tuple[BranchShop, BranchShop]:
    """Two machines that share a state; the first has run, and made a branch."""
    for name, value in s3_environment(s3).items():
        monkeypatch.setenv(name, value)
    first = machine_of(tmp_path / "first", tmp_path / "warehouse")
    enter_shop(first.root, monkeypatch)
    first.do("run")
    first.do("branch", "create", "b1")
    shutil.copytree(first.root, tmp_path / "second", ignore=shutil.ignore_patterns(".rocky-state*"))
    return first, BranchShop(tmp_path / "second")


def test_a_branch_made_on_one_machine_is_run_on_another_and_promoted_on_either(
    machines, monkeypatch
):
    first, second = machines
    enter_shop(second.root, monkeypatch)
    assert "b1" in second.do("branch", "list")
    second.write(stg_orders=MORE)
    second.do("run", "--branch", "b1")

    enter_shop(first.root, monkeypatch)
    first.write(stg_orders=MORE)
    first.do("branch", "create", "b2", "--from", "b1")
    # What another machine's run has recorded came with the tables: nothing is built again.
    assert "stg_orders" not in first.do("branch", "show", "b2")
    assert "reused  stg_orders" in first.rocky("run", "--branch", "b2").err
    first.do("branch", "delete", "b2")
    first.do("branch", "promote", "b1")

    enter_shop(second.root, monkeypatch)
    assert "promote" in second.do("branch", "list", "--promotions")
    enter_shop(first.root, monkeypatch)
    first.do("branch", "revert", "b1")
    first.do("branch", "delete", "b1")
    first.do("branch", "create", "b1")
    assert first.do("verify", "--branch", "b1").startswith("verified:")
    assert first.do("verify").startswith("verified:")


def test_a_branch_that_another_machine_is_at_work_on_is_not_deleted(machines, monkeypatch):
    first, second = machines
    own = on_branch(load_project(second.root, env=os.environ), "b1")
    with open_session(own.config.state, second.state("b1"), os.environ) as session:
        session.acquire()
        with session.claim([f"{TABLE}stg_orders"]) as claim:
            claim.name("run-20260101-000000-000")
            for command in ("delete", "rebase"):
                answer = first.rocky("branch", command, "b1")
                assert (command, 1) == (command, answer.code)
                assert "`run-20260101-000000-000` is writing its tables" in answer.err

    enter_shop(second.root, monkeypatch)
    assert "open" in second.do("branch", "list")


def test_a_branch_keeps_its_tables_until_others_can_know_that_it_is_deleted(machines, monkeypatch):
    first, second = machines
    folder = first.root.parent / "warehouse/branch__b1"

    def fail(*_: object) -> None:
        raise StateSyncFailed("the network is gone")

    with monkeypatch.context() as patch:
        patch.setattr(RemoteSession, "finalize", fail)
        assert "the network is gone" in first.rocky("branch", "delete", "b1").err
    enter_shop(second.root, monkeypatch)
    assert "7 tables as in production" in second.do("branch", "show", "b1")

    enter_shop(first.root, monkeypatch)
    first.do("branch", "delete", "b1")

    assert not folder.exists()
    enter_shop(second.root, monkeypatch)
    assert "no branches" in second.do("branch", "list")


def test_a_branch_that_was_made_again_elsewhere_is_not_taken_for_the_former_one(
    machines, monkeypatch
):
    first, second = machines
    enter_shop(second.root, monkeypatch)
    second.do("branch", "rebase", "b1")

    enter_shop(first.root, monkeypatch)
    first.do("run", "--branch", "b1")

    assert first.do("verify", "--branch", "b1").startswith("verified:")


def machine_of(root: Path, warehouse: Path) -> BranchShop:
    root.mkdir()
    shop = BranchShop(root)
    shop.create()
    config = root / "rocky.toml"
    config.write_text(
        f'[adapter]\nwarehouse = "{warehouse}"\n[state]\nbackend = "s3"\ns3_bucket = "{BUCKET}"\n'
        f's3_prefix = "{root.parent.name}/"\non_upload_failure = "fail"\n' + config.read_text()
    )
    shop.commit("elsewhere")
    return shop


def test_a_branch_in_an_object_store_shares_files_and_is_promoted(s3, tmp_path, monkeypatch):
    for name, value in s3_environment(s3).items():
        monkeypatch.setenv(name, value)
    place = f"s3://{BUCKET}/lake"
    enter_shop(tmp_path, monkeypatch)
    shop = BranchShop(tmp_path)
    shop.create()
    config = tmp_path / "rocky.toml"
    config.write_text(f'[adapter]\nwarehouse = "{place}"\n' + config.read_text())
    shop.commit("in a bucket")
    shop.do("run")
    shop.do("branch", "create", "b1")
    branch = open_warehouse(f"{place}/branch__b1", base=tmp_path, options=os.environ)
    assert [] == [each.path for each in branch.objects.list("") if each.path.endswith(".parquet")]

    shop.write(alone="SELECT 2 AS one")
    shop.do("run", "--branch", "b1")
    shop.do("branch", "promote", "b1")

    (promotion,) = load_promotions(shop.state())
    assert [f"{TABLE}alone"] == [each.target for each in promotion.tables]
    production = open_warehouse(place, base=tmp_path, options=os.environ)
    promoted = production.table(Target("spark_catalog", "default", "alone")).snapshot()
    assert (1, 1) == (promoted.version, promoted.rows)
    # The file came over: production does not depend on the branch.
    assert [False] == [file.is_elsewhere for file in promoted.files]
