"""Sentences of the guides of branches that no line of theirs shows."""

import shutil

import pytest

from rocky.ledger import open_ledger
from tests.branches.shops import TABLE, BranchShop, Template
from tests.ledger.conftest import a_run

pytestmark = pytest.mark.slow

MORE = "SELECT id, country, id * 2 AS twice FROM raw.orders"


@pytest.fixture(scope="module")
def built(tmp_path_factory) -> Template:
    return Template(tmp_path_factory.mktemp("built"), lambda shop: shop.do("run"))


@pytest.fixture
def shop(built, monkeypatch) -> BranchShop:
    return built.put_back(monkeypatch)


def test_a_branch_on_which_a_run_is_at_work_is_not_deleted(shop):
    shop.do("branch", "create", "b1")

    with open_ledger(shop.state("b1")) as ledger:
        run_id = ledger.begin_run(a_run(), [f"{TABLE}stg_orders"])
        answer = shop.rocky("branch", "delete", "b1")

    assert (1, True) == (answer.code, run_id in answer.err)
    assert shop.contents() == shop.contents("b1")


def test_a_deleted_branch_is_listed_when_all_are_asked_for(shop):
    shop.do("branch", "create", "b1")
    shop.do("branch", "delete", "b1")

    assert "b1" not in shop.do("branch", "list")
    assert "deleted" in shop.do("branch", "list", "--all")


def test_a_branch_may_be_said_to_be_of_production(shop):
    said = shop.do("branch", "create", "b1", "--from", "production")

    assert "tables of production, no data copied" in said


def test_outside_git_every_change_counts_as_breaking(shop):
    shutil.rmtree(shop.root / ".git")
    shop.do("branch", "create", "b1")
    shop.write(stg_orders=MORE)
    shop.do("run", "--branch", "b1")

    answer = shop.rocky("branch", "promote", "b1")

    assert 1 == answer.code
    assert (
        "it is not known whether the change breaks readers: there is no git commit to compare"
        in answer.err
    )


def test_a_deleted_parent_in_a_folder_takes_nothing_from_its_child(shop):
    shop.do("branch", "create", "b1")
    shop.do("branch", "create", "b2", "--from", "b1")
    shop.do("branch", "delete", "b1")

    assert [(1, "DE"), (2, "DE"), (3, "FR")] == shop.rows("stg_orders", "b2")
    assert [] == shop.findings("b2")
