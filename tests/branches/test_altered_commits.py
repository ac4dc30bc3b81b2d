"""Whoever can write the warehouse alters a log for as long as a command takes that copies tables."""

import json
import shutil
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from blake3 import blake3

from rocky.ledger.branches import load_promotions
from rocky.ledger.writer import Ledger
from rocky.operations.branch import promotion
from rocky.store.journal import JOURNAL_FOLDER
from tests.branches.shops import BranchShop, Template
from tests.run.test_altered_tables import edit
from tests.table_files import data_files

pytestmark = pytest.mark.slow

EVENTS = "id,seen\n1,2026-01-01T00:00:00\n2,2026-01-02T00:00:00\n"
THIRD = "3,2026-01-03T00:00:00\n"
FOURTH = "4,2026-01-04T00:00:00\n"
LATE = "2026-01-03 12:00:00"
"""A mark that the third event is below of and the fourth above."""


def prepare(shop: BranchShop) -> None:
    shop.write(latest="SELECT * FROM stg_orders")
    shop.commit("all columns")
    shop.do("run")


@pytest.fixture(scope="module")
def built(tmp_path_factory) -> Template:
    return Template(tmp_path_factory.mktemp("altered"), prepare)


@pytest.fixture
def shop(built, monkeypatch) -> BranchShop:
    return built.put_back(monkeypatch)


def events(shop: BranchShop, *more: str) -> None:
    (shop.root / "data/events.csv").write_text(EVENTS + "".join(more))


def commit(shop: BranchShop, name: str, version: int = 0) -> Path:
    folder = shop.root / "warehouse/spark_catalog/default" / name
    return folder / f"_delta_log/{version:020d}.json"


def mark_late(actions: list[dict]) -> None:
    """Say that all before `LATE` is loaded."""
    for each in actions:
        if "metaData" in each:
            properties = each["metaData"]["configuration"]
            mark = json.loads(properties["rocky.watermark"]) | {"value": LATE}
            properties["rocky.watermark"] = json.dumps(mark)


def set_bounds(actions: list[dict]) -> None:
    for each in actions:
        if "add" in each:
            said = json.loads(each["add"]["stats"])
            said |= {"minValues": {"id": 900}, "maxValues": {"id": 901}, "nullCount": {"id": 0}}
            each["add"]["stats"] = json.dumps(said)


def test_a_branch_is_not_made_of_a_commit_that_was_altered(shop):
    before = edit(commit(shop, "events"), mark_late)

    answer = shop.rocky("branch", "create", "b1")

    assert 1 == answer.code
    assert "`spark_catalog.default.events` is not read" in answer.err
    commit(shop, "events").write_bytes(before)
    shop.do("branch", "create", "b1")
    events(shop, THIRD, FOURTH)
    shop.do("run", "--branch", "b1")
    assert [1, 2, 3, 4] == [row[0] for row in shop.rows("events", "b1")]


def test_a_branch_is_not_made_of_a_commit_that_no_run_made(shop):
    planted = commit(shop, "events", 1)
    planted.write_text('{"commitInfo":{"timestamp":1,"operation":"WRITE"}}\n')

    assert "a commit that no run made, version 1" in shop.rocky("branch", "create", "b1").err


def test_a_branch_is_made_of_a_foreign_commit_that_was_accepted(shop):
    folder = shop.root / "warehouse/spark_catalog/default/events"
    (file,) = data_files(folder)
    rows = pq.read_table(file)
    pq.write_table(rows.slice(0, 1), folder / "more")
    name = f"{blake3((folder / 'more').read_bytes()).hexdigest()}.parquet"
    (folder / "more").rename(folder / name)
    size = (folder / name).stat().st_size
    add = {"path": name, "partitionValues": {}, "size": size, "modificationTime": 1}
    add |= {"dataChange": True, "stats": '{"numRecords": 1}'}
    lines = [{"commitInfo": {"timestamp": 1, "operation": "WRITE"}}, {"add": add}]
    planted = commit(shop, "events", 1)
    planted.write_text("".join(json.dumps(each) + "\n" for each in lines))
    shop.do("state", "accept", "spark_catalog.default.events", "-m", "by hand")

    shop.do("branch", "create", "b1")

    events(shop, THIRD)
    shop.do("run", "--branch", "b1")
    assert [1, 1, 2, 3] == [row[0] for row in shop.rows("events", "b1")]
    assert [] == shop.findings("b1")
    shop.do("branch", "promote", "b1")
    assert [1, 1, 2, 3] == [row[0] for row in shop.rows("events")]
    assert [] == shop.findings()


def test_a_table_that_was_planted_does_not_come_onto_a_branch(shop):
    folder = shop.root / "warehouse/spark_catalog/default"
    shutil.copytree(folder / "events", folder / "seen")
    for_nobody = folder / f"seen/_delta_log/{0:020d}.json"
    edit(for_nobody, lambda actions: actions[0]["commitInfo"].clear())
    shop.write(seen="SELECT id, seen FROM raw.events", count="SELECT count(*) AS n FROM seen")
    shop.commit("more")

    shop.do("branch", "create", "b1")

    assert "seen" not in {name.rpartition("/")[2] for name in shop.contents("b1")}
    answer = shop.rocky("run", "--branch", "b1", "--model", "count")
    assert 1 == answer.code
    assert "`count` reads `seen`, which has not been built yet" in answer.err


def test_a_branch_is_not_made_of_what_a_run_left_if_that_was_altered(shop):
    first = shop.do("history", "-o", "json")
    (run,) = json.loads(first)["runs"]
    events(shop, THIRD)
    shop.do("run")
    edit(commit(shop, "events"), mark_late)

    answer = shop.rocky("branch", "create", "b1", "--from", run["run_id"])

    assert "version 0 is not the commit that was recorded" in answer.err


def test_a_branch_is_made_of_a_commit_that_its_run_is_about_to_record(shop, monkeypatch):
    record, made = Ledger.record_models, []

    def create_first(self: Ledger, *given: object) -> None:
        if not made:
            made.append(True)
            made.append(shop.rocky("branch", "create", "b1"))
        record(self, *given)

    events(shop, THIRD)
    with monkeypatch.context() as patched:
        patched.setattr(Ledger, "record_models", create_first)
        shop.do("run", "--model", "events")

    assert commit(shop, "events", 1).exists()
    assert 0 == made[1].code, made[1].err
    assert [1, 2, 3] == [row[0] for row in shop.rows("events", "b1")]


def test_nothing_is_promoted_onto_a_commit_that_was_altered(shop):
    shop.do("branch", "create", "b1")
    events(shop, THIRD)
    shop.do("run", "--branch", "b1")
    before = edit(commit(shop, "events"), set_bounds)

    answer = shop.rocky("branch", "promote", "b1")

    assert 1 == answer.code
    assert "`spark_catalog.default.events` is not read" in answer.err
    assert not commit(shop, "events", 1).exists()
    commit(shop, "events").write_bytes(before)
    shop.do("branch", "promote", "b1")
    assert [] == shop.findings()


def test_a_revert_goes_back_to_no_commit_that_was_altered(shop):
    shop.do("branch", "create", "b1")
    events(shop, THIRD)
    shop.do("run", "--branch", "b1")
    shop.do("branch", "promote", "b1")
    before = edit(commit(shop, "events"), mark_late)

    answer = shop.rocky("branch", "revert", "b1", "-m", "back")

    assert 1 == answer.code
    assert "version 0 is not the commit that was recorded" in answer.err
    commit(shop, "events").write_bytes(before)
    shop.do("branch", "revert", "b1", "-m", "back")
    events(shop, THIRD, FOURTH)
    shop.do("run", "--force")
    assert [1, 2, 3, 4] == [row[0] for row in shop.rows("events")]


class Died(BaseException):
    pass


def die_at(shop: BranchShop, patch: pytest.MonkeyPatch, step: str) -> None:
    """Promote, and die when a step is reached."""

    def watch(reached: str) -> None:
        if reached == step:
            raise Died

    promote = promotion.promote_tables
    with patch.context() as patched:
        patched.setattr(promotion, "promote_tables", lambda *given: promote(*given, watch=watch))
        with pytest.raises(Died):
            shop.rocky("branch", "promote", "b1")


def branch_two_tables(shop: BranchShop) -> None:
    shop.do("branch", "create", "b1")
    shop.write(stg_orders="SELECT id, country, id * 2 AS twice FROM raw.orders")
    events(shop, THIRD)
    shop.do("run", "--branch", "b1")


def test_an_undone_promotion_goes_back_to_no_commit_that_was_altered(shop, monkeypatch):
    branch_two_tables(shop)
    die_at(shop, monkeypatch, "records")
    commit(shop, "stg_orders", 1).write_text('{"commitInfo":{"timestamp":1}}\n')
    before = edit(commit(shop, "events"), mark_late)

    answer = shop.rocky("branch", "recover")

    assert "left as promoted: spark_catalog.default.events" in answer.out
    commit(shop, "events").write_bytes(before)
    assert "was altered" in load_promotions(shop.state())[-1].left["spark_catalog.default.events"]
    events(shop, THIRD, FOURTH)
    shop.rocky("run", "--model", "events")
    assert [1, 2, 3, 4] == [row[0] for row in shop.rows("events")]


def test_a_commit_of_a_promotion_that_was_undone_is_foreign(shop, monkeypatch):
    branch_two_tables(shop)
    old = shop.rows("stg_orders")
    die_at(shop, monkeypatch, "commits")
    (journal,) = (shop.root / "warehouse" / JOURNAL_FOLDER).glob("*.json")
    tables = json.loads(journal.read_text())["tables"]
    (signed,) = [each["commit"] for each in tables if each["target"].endswith("stg_orders")]
    commit(shop, "stg_orders", 1).write_text('{"commitInfo":{"timestamp":1}}\n')
    assert "undone" in shop.rocky("branch", "recover").out
    assert old == shop.rows("stg_orders")

    # The journal had it, with the signature of a run that gave up.
    commit(shop, "stg_orders", 1).write_text(signed)

    assert any("foreign_commit" in each for each in shop.findings())
    assert any(each.startswith("script: foreign_commit") for each in shop.findings())
    shop.write(other="SELECT count(*) AS n FROM stg_orders")
    answer = shop.rocky("run", "--model", "other")
    assert "a commit that no run made, version 1" in answer.out + answer.err
