"""Where a branch's tables and records are: found by any spelling, relied on only when they hold."""

import json
import shutil
import sqlite3
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

import rocky
from rocky.branches.lifecycle import branch_claim
from rocky.errors import NothingSelected
from rocky.ledger import open_ledger
from rocky.ledger.branches import load_branches
from rocky.ledger.run_records import RunStatus
from rocky.project import load_project
from rocky.project.project import on_branch
from tests.branches.shops import BranchShop, Template, enter_shop
from tests.ledger.conftest import a_run
from tests.run.runs import PROJECT, write
from tests.table_files import data_files

pytestmark = pytest.mark.slow

MORE = "SELECT id, country, id * 2 AS twice FROM raw.orders"
COUNTED = "SELECT count(*) AS n FROM stg_orders"
TWO_PLACES = {
    "rocky.toml": (
        '[adapter.default]\nwarehouse = "warehouse"\n[adapter.other]\nwarehouse = "other"\n'
        '[pipeline.shop]\nmodels = "models/**"\n[pipeline.two]\nmodels = "models2/**"\n'
        'target = { adapter = "other" }\n'
    ),
    "models2/second.sql": "SELECT id FROM raw.orders",
    ".gitignore": "warehouse/\nother/\n.rocky*\n",
}


def _branch(shop: BranchShop) -> None:
    shop.do("run")
    shop.do("branch", "create", "b1")


@pytest.fixture(scope="module")
def made(tmp_path_factory) -> Template:
    return Template(tmp_path_factory.mktemp("made"), _branch)


@pytest.fixture
def shop(made, monkeypatch) -> BranchShop:
    return made.put_back(monkeypatch)


def _two(shop: BranchShop) -> None:
    write(shop.root, TWO_PLACES)
    shop.commit("two places")
    shop.do("run", "--pipeline", "shop")
    shop.do("run", "--pipeline", "two")
    shop.do("branch", "create", "b1", "--target", "default")


@pytest.fixture(scope="module")
def of_two(tmp_path_factory) -> Template:
    return Template(tmp_path_factory.mktemp("two"), _two)


@pytest.fixture
def two(of_two, monkeypatch) -> BranchShop:
    return of_two.put_back(monkeypatch)


def _folders(shop: BranchShop, place: str = "warehouse") -> list[str]:
    return sorted(each.name for each in (shop.root / place).iterdir())


def test_a_branch_is_the_same_place_whatever_case_is_typed(shop):
    before = _folders(shop)
    shop.write(stg_orders=MORE)

    shop.do("run", "--branch", "B1")
    shop.do("branch", "create", "b2", "--from", "B1")

    assert sorted([*before, "branch__b2"]) == _folders(shop)
    assert [(1, "DE", 2), (2, "DE", 4), (3, "FR", 6)] == shop.rows("stg_orders", "b1")
    assert {"b1": "production", "b2": "b1"} == {
        each.name: each.parent for each in load_branches(shop.state())
    }


def test_no_branch_is_called_production(shop):
    answer = shop.rocky("branch", "create", "Production")

    assert 1 == answer.code
    assert "no branch can be called `Production`" in answer.err


def test_nothing_of_a_deleted_branch_is_left(shop):
    shop.do("run", "--branch", "b1")

    shop.do("branch", "delete", "b1")

    assert [] == list(shop.root.glob(".rocky-state.branch__b1*"))


def test_two_do_not_make_or_delete_one_branch_at_once(shop):
    with open_ledger(shop.state()) as ledger:
        for name, line in (("b1", ["delete", "b1"]), ("b2", ["create", "b2"])):
            with ledger.claim([branch_claim(name)], "rocky branch create"):
                answer = shop.rocky("branch", *line)
            assert 1 == answer.code
            assert f"`rocky branch create` is using `branch:{name}`" in answer.err

    assert ["b1"] == [each.name for each in load_branches(shop.state())]


def test_a_deletion_that_was_cut_short_is_finished_by_deleting_again(shop, monkeypatch):
    def die(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr("rocky.branches.lifecycle.drop_branch_folder", die)
        assert 130 == shop.rocky("branch", "delete", "b1").code
    assert ["deleted"] == [each.status for each in load_branches(shop.state())]
    assert "branch__b1" in _folders(shop)

    shop.do("branch", "delete", "b1")

    assert "branch__b1" not in _folders(shop)
    assert "no branch `b1`" in shop.rocky("branch", "delete", "b1").err


def test_what_runs_on_another_adapter_is_refused_on_a_branch(two):
    for command in (["run", "--pipeline", "two"], ["run", "--model", "second"], ["plan", "second"]):
        answer = two.rocky(*command, "--branch", "b1")
        assert (command, 1) == (command, answer.code)
        assert "branch `b1` has the tables of `[adapter.default]` and no other" in answer.err
    with pytest.raises(NothingSelected, match="and no other"):
        rocky.open(two.root, branch="b1", env={}).run("second")

    assert ["_rocky", "spark_catalog"] == _folders(two, "other")


def test_a_branch_of_one_adapter_is_promoted_without_the_models_of_another(two):
    two.write(stg_orders=MORE)
    two.do("run", "--branch", "b1", "--pipeline", "shop")

    two.do("branch", "promote", "b1")

    assert [(1, "DE", 2), (2, "DE", 4), (3, "FR", 6)] == two.rows("stg_orders")


def test_a_branch_of_a_branch_has_the_tables_of_its_adapter(two):
    two.do("branch", "create", "b2", "--from", "b1")
    answer = two.rocky("branch", "create", "b3", "--from", "b1", "--target", "other")

    assert two.contents("b1") == two.contents("b2")
    assert "branch `b1` has the tables of `[adapter.default]` and no other" in answer.err


def test_deleting_a_branch_clears_the_place_of_every_adapter(two):
    write(two.root, {f"other/branch__b1/c/s/t/{'0' * 64}.parquet": "x"})

    two.do("branch", "delete", "b1")

    assert "branch__b1" not in _folders(two) + _folders(two, "other")


def _edit_records(shop: BranchShop) -> None:
    """Say in the branch's ledger that other code has built a table."""
    connection = sqlite3.connect(shop.state("b1"))
    found = connection.execute("SELECT key, value FROM model_executions").fetchall()
    for key, value in found:
        record = json.loads(value) | {"reason": "it was always so"}
        text = json.dumps(record, sort_keys=True, separators=(",", ":"))
        connection.execute("UPDATE model_executions SET value = ? WHERE key = ?", (text, key))
    connection.commit()
    connection.close()


def _swap_bytes(shop: BranchShop) -> None:
    """Change a file that would be promoted; its length stays."""
    table = shop.table("stg_orders", "b1")
    place: Path = table.place_of(table.snapshot().files[0]).local
    place.chmod(0o644)
    place.write_bytes(place.read_bytes()[::-1])


@pytest.mark.parametrize("forge", [_edit_records, _swap_bytes])
def test_a_branch_whose_records_do_not_hold_is_not_promoted(
    shop, forge: Callable[[BranchShop], None]
):
    shop.write(stg_orders=MORE)
    shop.do("run", "--branch", "b1")
    forge(shop)

    answer = shop.rocky("branch", "promote", "b1")

    assert 1 == answer.code
    assert "the records of branch `b1` fail verification: " in answer.err
    assert [(1, "DE"), (2, "DE"), (3, "FR")] == shop.rows("stg_orders")
    assert [] == shop.findings()


def test_a_table_is_not_promoted_beside_inputs_that_it_was_not_built_of(shop):
    shop.write(extra=COUNTED)
    shop.do("run", "--branch", "b1")
    orders = shop.root / "data/orders.csv"
    orders.write_text(orders.read_text() + "4,FR\n")
    shop.do("run", "--model", "stg_orders")

    answer = shop.rocky("branch", "promote", "b1")

    assert 1 == answer.code
    assert (
        "`spark_catalog.default.extra` was built of `spark_catalog.default.stg_orders` as it was"
        " when the branch was made, and production has changed that since; `rocky branch rebase"
        " b1`"
    ) in answer.err
    assert "extra" not in shop.contents()


def test_a_table_is_promoted_beside_inputs_that_moved_and_came_out_the_same(shop):
    shop.write(extra=COUNTED)
    shop.do("run", "--branch", "b1")
    shop.do("run", "--model", "stg_orders", "--force-rebuild")

    shop.do("branch", "promote", "b1")

    assert [(3,)] == shop.rows("extra")


def test_a_file_below_the_warehouse_that_is_no_table_is_read_where_it_is(shop):
    _declare(shop, "csv", "warehouse/landing/land.csv")
    write(shop.root, {"warehouse/landing/land.csv": "id\n1\n"})
    shop.write(land="SELECT id FROM raw.land")

    shop.do("run", "--branch", "b1", "--model", "land")

    assert [(1,)] == shop.rows("land", "b1")


def _declare(shop: BranchShop, kind: str, path: str) -> None:
    source = f'[[source]]\nname = "raw.land"\nformat = "{kind}"\npath = "{path}"\n'
    columns = 'columns = [ { name = "id", type = "bigint" } ]\n'
    write(shop.root, {"sources/land.toml": source + columns})


@pytest.mark.parametrize(
    ("warehouse", "path", "below"),
    [
        ("s3://b/wh", "s3://b/wh/c/s/t", "c/s/t"),
        ("s3://b/wh/", "s3a://b/wh/c/s/t/", "c/s/t"),
        ("s3a://b/wh", "s3://b//wh/c/s/t", "c/s/t"),
        ("warehouse", "warehouse/c/s/t", "c/s/t"),
        ("warehouse", "./data/../warehouse//c/s/t", "c/s/t"),
        ("warehouse", "file://HERE/warehouse/c/s/t", "c/s/t"),
        ("file://HERE/warehouse", "file:HERE/warehouse/c/s/t", "c/s/t"),
        ("file://HERE/warehouse", "warehouse/c/s/t", "c/s/t"),
        ("warehouse", "warehouse/landing/t", None),
        ("warehouse", "warehouse/branch__b2/c/s/t", None),
        ("warehouse", "warehouse/branch__b2/c/s", None),
        ("warehouse", "warehouses/c/s/t", None),
        ("s3://b/wh", "s3://other/wh/c/s/t", None),
        ("s3://b/wh", "warehouse/c/s/t", None),
    ],
)
def test_a_table_of_the_warehouse_is_the_branchs_own_however_it_is_written(
    tmp_path, warehouse, path, below
):
    write(tmp_path, PROJECT)
    project = load_project(tmp_path, env={})
    here = tmp_path.resolve().as_posix()
    warehouse, path = warehouse.replace("HERE", here), path.replace("HERE", here)
    config = project.config._replace(
        adapter={
            name: each._replace(warehouse=warehouse)
            for name, each in project.config.adapter.items()
        }
    )
    source = replace(next(iter(project.sources.values())), format="delta", path=path)

    there = on_branch(replace(project, config=config, sources={"x": source}), "b1").sources["x"]

    own = f"{warehouse.rstrip('/')}/branch__b1/{below}"
    assert (path if below is None else own) == there.path


def test_a_copy_of_a_project_works_on_its_own_tables(shop, tmp_path, monkeypatch):
    """Also while the project it was copied from is still there, whose place its records name."""
    shutil.copytree(shop.root, tmp_path / "copy")
    copy = BranchShop(tmp_path / "copy")
    enter_shop(copy.root, monkeypatch)
    anchors = sorted((path, path.read_bytes()) for path in shop.root.glob("warehouse/_rocky/*"))

    (damaged,) = data_files(copy.root / "warehouse/branch__b1/spark_catalog/default/alone")
    damaged.chmod(0o644)
    damaged.write_bytes(damaged.read_bytes()[:-1] + b"x")
    assert 1 == copy.rocky("verify", "--branch", "b1").code
    copy.do("branch", "create", "b2")
    copy.do("branch", "delete", "b2")

    assert anchors == sorted(
        (path, path.read_bytes()) for path in shop.root.glob("warehouse/_rocky/*")
    )
    assert [] == shop.findings()


@pytest.mark.parametrize("entered", ["copy", "link"])
def test_a_copy_is_verified_by_its_own_branch_however_it_is_entered(
    shop, tmp_path, monkeypatch, entered
):
    """By a link from elsewhere, and where two adapters share the warehouse."""
    shared = "".join(f'[adapter.{name}]\nwarehouse = "warehouse"\n' for name in ("one", "two"))
    settings = (shop.root / "rocky.toml").read_text()
    target = '\n[pipeline.shop.target]\nadapter = "one"\n'
    write(shop.root, {"rocky.toml": shared + settings + target})
    shop.do("branch", "create", "b3", "--target", "one")
    shutil.copytree(shop.root, tmp_path / "copy")
    (tmp_path / "link").symlink_to(tmp_path / "copy")
    shutil.rmtree(shop.root / "warehouse/branch__b3/spark_catalog/default/alone")
    monkeypatch.chdir(tmp_path)

    assert 0 == shop.rocky("-c", entered, "verify", "--branch", "b3").code


@pytest.mark.parametrize("name", ["latest", "run-20260101-000000-000"])
def test_a_name_that_means_a_run_is_refused(shop, name):
    assert "it means a run" in shop.rocky("branch", "create", name).err


def test_a_branch_made_while_a_run_is_at_work_says_so(shop):
    with open_ledger(shop.state()) as ledger:
        record = a_run(datetime.now(UTC), warehouse=str(shop.root / "warehouse"))
        run_id = ledger.begin_run(record, ["spark_catalog.default.alone"])
        answer = shop.rocky("branch", "create", "b2")
        ledger.finish_run(run_id, RunStatus.FAILURE, datetime.now(UTC), reason="stopped")

    assert 0 == answer.code
    assert f"`{run_id}` is running" in answer.err


def test_a_deletion_goes_through_no_link_and_names_it(shop):
    stranger = shop.root.parent / "stranger"
    stranger.mkdir()
    (stranger / "diary.txt").write_text("mine")
    link = shop.root / "warehouse/branch__b1/spark_catalog/elsewhere"
    link.symlink_to(stranger, target_is_directory=True)

    answer = shop.rocky("branch", "delete", "b1")

    assert 0 == answer.code
    assert "holds what Rocky did not put there, and none of it was touched or followed" in (
        " ".join(answer.out.split())
    )
    assert str(link) in answer.out
    assert "mine" == (stranger / "diary.txt").read_text()
    assert "no branch `b1`" in shop.rocky("branch", "delete", "b1").err
