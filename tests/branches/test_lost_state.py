"""Branches, and a state that was lost or put back: the branch's own, and production's."""

import json
import shutil
from pathlib import Path

import pytest

from tests.branches.shops import BranchShop, Template
from tests.run.runs import write

pytestmark = pytest.mark.slow

EVENTS = "spark_catalog.default.events"


def prepare(shop: BranchShop) -> None:
    shop.do("run")
    shop.do("branch", "create", "b1")


@pytest.fixture(scope="module")
def branched(tmp_path_factory) -> Template:
    return Template(tmp_path_factory.mktemp("branched"), prepare)


@pytest.fixture
def shop(branched, monkeypatch) -> BranchShop:
    """A shop that has run, with a branch that has not."""
    return branched.put_back(monkeypatch)


def take(shop: BranchShop, branch: str | None = None) -> dict[str, bytes]:
    """A state file with what SQLite keeps beside it."""
    path = shop.state(branch)
    beside = (path, path.with_name(f"{path.name}-wal"), path.with_name(f"{path.name}-shm"))
    return {str(each): each.read_bytes() for each in beside if each.exists()}


def put_back(shop: BranchShop, older: dict[str, bytes], branch: str | None = None) -> None:
    for each in take(shop, branch):
        Path(each).unlink()
    for each, data in older.items():
        Path(each).write_bytes(data)


def events(shop: BranchShop, *days: int) -> None:
    lines = "".join(f"{each},2026-01-{each:02}T00:00:00\n" for each in days)
    write(shop.root, {"data/events.csv": f"id,seen\n{lines}"})


def ids(shop: BranchShop, branch: str | None = None) -> list[int]:
    return [number for number, _ in shop.rows("events", branch)]


def test_the_first_run_of_a_branch_is_not_refused(shop):
    events(shop, 3)

    shop.do("run", "--branch", "b1")

    assert ([1, 2, 3], [1, 2]) == (ids(shop, "b1"), ids(shop))
    assert [] == shop.findings("b1")


def test_the_state_of_a_branch_that_was_deleted_is_restored_from_its_tables(shop):
    put_back(shop, {}, "b1")
    events(shop, 3)

    refused = shop.rocky("run", "--branch", "b1")
    said = shop.do("state", "restore", "--from-tables", "-m", "gone", "--branch", "b1")
    shop.do("run", "--branch", "b1")

    assert 1 == refused.code
    assert "which the state does not have" in refused.err
    assert f"`{EVENTS}`: version 0, loaded up to 2026-01-02T00:00:00" in said
    assert ([1, 2, 3], [1, 2]) == (ids(shop, "b1"), ids(shop))
    assert [] == shop.findings("b1")


def test_the_state_of_a_branch_that_was_put_back_is_refused(shop):
    older = take(shop, "b1")
    events(shop, 1, 2, 3)
    shop.do("run", "--branch", "b1")
    put_back(shop, older, "b1")

    refused = shop.rocky("run", "--branch", "b1")

    assert (1, [1, 2, 3]) == (refused.code, ids(shop, "b1"))
    assert "replaced by an older copy" in refused.err


@pytest.mark.slow
def test_nothing_is_promoted_into_a_production_whose_state_was_put_back(shop):
    older = take(shop)
    shop.write(report="SELECT max(n) + 7 AS most FROM by_country")
    shop.do("run", "--branch", "b1")
    shop.do("run", "--model", "alone", "--full-refresh")
    put_back(shop, older)
    before = shop.contents()

    refused = shop.rocky("branch", "promote", "b1")

    assert 1 == refused.code
    assert "replaced by an older copy" in refused.err
    assert before == shop.contents()


def test_a_restoration_is_told_as_json_and_wants_a_table_or_the_flag(shop):
    put_back(shop, {})

    neither = shop.rocky("state", "restore", "-m", "gone")
    answer = shop.rocky("-o", "json", "state", "restore", "--from-tables", "-m", "gone")
    again = shop.rocky("state", "restore", "--from-tables", "-m", "gone")

    assert (1, True) == (neither.code, "restore the state with `--from-tables`" in neither.err)
    document = json.loads(answer.out)
    assert ("state restore", "gone", []) == (
        document["command"],
        document["reason"],
        document["left"],
    )
    assert EVENTS in {each["target"] for each in document["tables"]}
    assert (1, True) == (again.code, "nothing to restore" in again.err)


@pytest.mark.slow
def test_a_promotion_leaves_what_a_lost_state_is_restored_from(shop):
    events(shop, 1, 2, 3)
    shop.do("run", "--branch", "b1")
    shop.do("branch", "promote", "b1")
    put_back(shop, {})
    events(shop, 4)

    assert 1 == shop.rocky("run").code
    said = shop.do("state", "restore", "--from-tables", "-m", "gone")
    shop.do("run")

    assert f"`{EVENTS}`: version 1, loaded up to 2026-01-03T00:00:00" in said
    assert [1, 2, 3, 4] == ids(shop)
    assert [] == shop.findings()


def test_a_branch_is_made_of_tables_whose_state_was_restored(shop):
    put_back(shop, {})
    shop.do("state", "restore", "--from-tables", "-m", "gone")
    shutil.rmtree(shop.root / "warehouse/branch__b1", ignore_errors=True)
    events(shop, 3)

    shop.do("branch", "create", "b2")
    shop.do("run", "--branch", "b2")

    assert ([1, 2, 3], [1, 2]) == (ids(shop, "b2"), ids(shop))
