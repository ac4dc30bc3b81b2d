"""Branches whose state is kept elsewhere, and whose tables lie in an object store."""

import os
import shutil
from datetime import UTC, datetime
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from blake3 import blake3

from rocky.branches.clones import BranchOrigin, Parent, clone_parent
from rocky.branches.promotion.promotion import PROMOTED, BranchHistory, promote_tables
from rocky.branches.tables import load_branch_view
from rocky.errors import StateSyncFailed
from rocky.language.datatypes.types import BIGINT, StructField
from rocky.ledger import open_ledger
from rocky.ledger.branch_records import BranchRecord, PromotionRecord
from rocky.ledger.branches import load_promotions
from rocky.ledger.record import NO_RUN
from rocky.project import load_project
from rocky.project.models import Target
from rocky.project.project import on_branch
from rocky.run.prepare.caller import Caller
from rocky.run.prepare.session import open_run
from rocky.state.session import RemoteSession, open_session
from rocky.store.data_file import DataFile
from rocky.store.delta.change import Change
from rocky.store.warehouse import Table, open_warehouse
from tests.branches.shops import TABLE, BranchShop, enter_shop
from tests.run.runs import WHO
from tests.servers.s3 import BUCKET, s3_environment, s3_server

pytestmark = pytest.mark.server
MORE = "SELECT id, country, id * 2 AS twice FROM raw.orders"
NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
COLUMNS = (StructField("id", BIGINT, True),)


@pytest.fixture(scope="module")
def s3():
    with s3_server() as endpoint:
        yield endpoint


@pytest.fixture
def machines(s3, tmp_path, monkeypatch) -> tuple[BranchShop, BranchShop]:
    """Two machines that share a state; the first has run, and made a branch."""
    for name, value in s3_environment(s3).items():
        monkeypatch.setenv(name, value)
    first = _machine(tmp_path / "first", tmp_path / "warehouse")
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


def _machine(root: Path, warehouse: Path) -> BranchShop:
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


def _file(table: Table, *ids: int) -> DataFile:
    sink = pa.BufferOutputStream()
    pq.write_table(pa.table({"id": pa.array(ids, pa.int64())}), sink)
    data = sink.getvalue().to_pybytes()
    path = f"{blake3(data).hexdigest()}.parquet"
    table.objects.put(f"{table.prefix}/{path}", data)
    return DataFile(path, len(data), len(ids), f'{{"numRecords":{len(ids)}}}', {}, 0)


def _replace(table: Table, *ids: int) -> None:
    file = _file(table, *ids)
    table.commit(Change("REPLACE", table.snapshot(), COLUMNS, (), (file,)))


def test_a_branch_in_an_object_store_shares_files_and_is_promoted(s3, tmp_path, monkeypatch):
    for name, value in s3_environment(s3).items():
        monkeypatch.setenv(name, value)
    place = f"s3://{BUCKET}/lake"
    (tmp_path / "rocky.toml").write_text(f'[adapter]\nwarehouse = "{place}"\n')
    production = open_warehouse(place, base=tmp_path, options=os.environ)
    branch = open_warehouse(f"{place}/branch__b1", base=tmp_path, options=os.environ)
    tables = [production.table(Target("c", "s", name)) for name in ("one", "two")]
    for table in tables:
        _replace(table, 1, 2)
    parent = Parent("production", production, {each: each.snapshot() for each in tables})
    with open_ledger(tmp_path / "branch.db") as ledger:
        clone_parent(ledger, branch, parent, BranchOrigin(WHO, "", NOW))
    data = [each.path for each in branch.objects.list("") if each.path.endswith(".parquet")]
    assert [] == data

    own = branch.table(Target("c", "s", "two"))
    _replace(own, 1, 2, 3)
    record = BranchRecord(
        "b1", "branch__b1", "ann", NOW, branch.uri, production.uri, tables=parent.versions
    )
    view = load_branch_view(record, branch, production)
    assert ["c.s.two"] == [each.target for each in view.changed]
    project = load_project(tmp_path, env=os.environ)
    means = Caller(tmp_path / ".rocky-state.db", WHO, os.environ)
    draft = PromotionRecord(NO_RUN, PROMOTED, "b1", "ann", NOW)
    with open_run(project, project.config.adapter["default"], means) as opened:
        promote_tables(opened, view, BranchHistory({}, {}), draft)

    again = open_warehouse(place, base=tmp_path, options=os.environ)
    promoted = again.table(Target("c", "s", "two")).snapshot()
    assert (1, 3) == (promoted.version, promoted.rows)
    # The file came over: production does not depend on the branch.
    assert [False] == [file.is_elsewhere for file in promoted.files]
    assert 1 == len(load_promotions(tmp_path / ".rocky-state.db"))
