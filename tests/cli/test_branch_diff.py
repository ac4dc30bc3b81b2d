"""`rocky branch diff`: rows of a branch beside production's, without a JVM where none is needed."""

import json
from collections.abc import Iterator

import pytest

from rocky.run.engine import spark
from tests.branches.shops import BranchShop, enter_shop
from tests.cli.test_schemas import check

pytestmark = pytest.mark.slow

OTHERS = (
    "SELECT id + 1 AS id, CASE WHEN id = 1 THEN 'PL' ELSE country END AS country FROM raw.orders"
)


def branched(folder, patch) -> BranchShop:
    enter_shop(folder, patch)
    shop = BranchShop(folder)
    shop.create()
    shop.do("run")
    shop.do("branch", "create", "b1")
    return shop


@pytest.fixture
def shop(tmp_path, monkeypatch) -> BranchShop:
    return branched(tmp_path, monkeypatch)


@pytest.fixture(scope="module")
def changed(tmp_path_factory) -> Iterator[BranchShop]:
    """Orders of other numbers, one of another country. It is only looked at."""
    with pytest.MonkeyPatch.context() as patch:
        shop = branched(tmp_path_factory.mktemp("changed"), patch)
        shop.write(stg_orders=OTHERS, more="SELECT 1 AS one UNION ALL SELECT 2")
        shop.do("run", "--branch", "b1")
        yield shop


def document(shop, *arguments):
    found = json.loads(shop.do("branch", "diff", "b1", *arguments, "-o", "json"))
    assert [] == check(found, "branch")
    return found


def table(found, name):
    return next(each for each in found["tables"] if each["target"].endswith(f".{name}"))


def test_a_branch_as_production_is_compared_without_an_engine(shop, monkeypatch):
    monkeypatch.setattr(spark, "open_project_engine", lambda *_: pytest.fail("no Spark"))

    found = document(shop)

    assert [] == found["tables"]
    assert found["same"] > 4
    assert "tables with the same rows as production" in shop.do("branch", "diff", "b1")


def test_rows_are_counted_by_the_key_that_the_model_declares(changed):
    found = table(document(changed, "--sample", "1"), "latest")

    assert (["id"], "unique_key") == (found["key"], found["key_source"])
    # A merge keeps the rows that its query no longer gives.
    assert (1, 0, 2) == (found["added"], found["removed"], found["changed"])
    assert {"country": 2} == found["changed_by_column"]
    sample = {"key": {"id": "2"}, "columns": {"country": {"before": "DE", "after": "PL"}}}
    assert [sample] == found["sample"]


def test_people_are_told_the_same(changed):
    said = changed.do("branch", "diff", "b1", "latest").splitlines()

    assert [
        "branch b1: 1 table differs from production",
        "",
        "spark_catalog.default.latest: 3 -> 4 rows, by id",
        "  rows: 1 added, 0 removed, 2 changed",
        "  changed: country 2",
        "  id = 2: country DE -> PL",
        "  id = 3: country FR -> DE",
    ] == said


def test_without_a_key_rows_are_compared_whole_and_one_can_be_given(changed):
    (found,) = document(changed, "stg_orders")["tables"]
    assert ("no key", 3, 3) == (found["key_source"], found["added"], found["removed"])
    assert "changed" not in found

    (keyed,) = document(changed, "stg_orders", "--key", "id")["tables"]
    assert (1, 1, 2) == (keyed["added"], keyed["removed"], keyed["changed"])


@pytest.mark.parametrize(
    ("said", "key", "source"),
    [
        ('type = "unique"\ncolumn = "id"\n', ["id"], "unique test"),
        ('type = "composite"\ncolumns = ["ID", "country"]\n', ["id", "country"], "unique test"),
        ('type = "unique"\ncolumn = "id"\nfilter = "id > 1"\n', [], "no key"),
    ],
)
def test_a_test_of_all_rows_that_says_unique_is_a_key(changed, said, key, source):
    tests = changed.root / "models/stg_orders.toml"
    tests.write_text(f"[[tests]]\n{said}")
    found = table(document(changed), "stg_orders")
    tests.unlink()

    assert (key, source) == (found["key"], found["key_source"])


def test_production_that_moved_is_seen_and_the_base_is_not(shop):
    shop.write(alone="SELECT 2 AS one")
    shop.do("run")

    assert ["spark_catalog.default.alone"] == [each["target"] for each in document(shop)["tables"]]
    assert [] == document(shop, "--to", "base")["tables"]


def test_a_table_that_only_the_branch_has_is_new(changed):
    found = table(document(changed), "more")

    assert 2 == found["added"] == found["rows_after"]
    assert "rows_before" not in found
    assert "spark_catalog.default.more: new, 2 rows" in changed.do("branch", "diff", "b1")


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        (("nope",), "no branch `nope`"),
        (("b1", "stg_order"), "did you mean `stg_orders`?"),
        (("b1", "stg_orders", "--key", "countri"), "did you mean `country`?"),
    ],
)
def test_a_name_that_nothing_has_is_refused(changed, arguments, why):
    answer = changed.rocky("branch", "diff", *arguments)

    assert 0 != answer.code
    assert why in answer.err
