"""What is recorded of branches and promotions, changed by hand: found and named."""

import json
import sqlite3

import pytest

from rocky.ledger.branches import load_promotions
from tests.branches.shops import BranchShop, Template

pytestmark = pytest.mark.slow

MORE = "SELECT id, country, id * 2 AS twice FROM raw.orders"


def prepare(shop: BranchShop) -> None:
    shop.do("run")
    shop.do("branch", "create", "b1")
    shop.write(stg_orders=MORE)
    shop.do("run", "--branch", "b1")
    shop.do("branch", "promote", "b1")


@pytest.fixture(scope="module")
def promoted(tmp_path_factory) -> Template:
    return Template(tmp_path_factory.mktemp("promoted"), prepare)


@pytest.fixture
def shop(promoted, monkeypatch) -> BranchShop:
    return promoted.put_back(monkeypatch)


def edit(shop: BranchShop, table: str, **changes: object) -> None:
    with sqlite3.connect(shop.state()) as connection:
        ((key, value),) = connection.execute(f"SELECT key, value FROM {table}").fetchall()
        document = {**json.loads(value), **changes}
        connection.execute(f"UPDATE {table} SET value = ?", (json.dumps(document),))
        assert key
    connection.close()


@pytest.mark.parametrize(
    ("table", "changes"),
    [
        ("promotions", {"by": "eve@example.com"}),
        ("promotions", {"verdict": "none"}),
        ("promotions", {"approvals": []}),
        ("branches", {"created_by": "eve@example.com"}),
    ],
)
def test_a_changed_record_is_named_by_rocky_and_by_the_script(shop, table, changes):
    edit(shop, table, **changes)

    found = shop.findings()
    assert [] != [each for each in found if each.startswith("record_changed") and table in each]
    assert [] != [each for each in found if each.startswith("script") and table in each]


def test_a_removed_promotion_is_missed(shop):
    with sqlite3.connect(shop.state()) as connection:
        connection.execute("DELETE FROM promotions")
    connection.close()

    found = shop.findings()
    assert [] != [each for each in found if "record_missing" in each and "promotions" in each]


def test_a_promotion_that_says_other_content_than_the_table_has_is_found(shop, monkeypatch):
    (promotion,) = load_promotions(shop.state())
    moved = [{**each.to_json(), "to_content": "0" * 64} for each in promotion.tables]
    edit(shop, "promotions", tables=moved)

    assert [] != [each for each in shop.findings() if "was not, at version" in each]
