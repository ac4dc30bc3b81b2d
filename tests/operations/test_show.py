"""Rows to look at: from files where that can be done, else from Spark, and compiled first."""

import pytest

from rocky.diagnostics.render.lines import render_concise
from rocky.errors import InvalidRequest, NothingSelected, RockyError
from rocky.operations.execution.run import run
from rocky.operations.findings import ErrorsFound
from rocky.operations.rows.show import ShowRequest, show
from rocky.plan.request import RunRequest
from tests.operations.shops import OpenShop, keep, put_back


@pytest.fixture(scope="module")
def template(tmp_path_factory):
    root = tmp_path_factory.mktemp("show") / "shop"
    with pytest.MonkeyPatch.context() as patch:
        run(OpenShop(root, patch).workspace, RunRequest(("stg_orders",)))
    keep(root)
    return root


@pytest.fixture
def built(template, monkeypatch):
    """A shop whose table `stg_orders` is built; Spark is closed again."""
    shop = OpenShop(template, monkeypatch)
    put_back(template)
    return shop


def test_columns_come_with_what_the_table_says_of_them(shop):
    shop.write("models/stg_orders.toml", '[columns.id]\ndescription = "the order"\n')
    run(shop.workspace, RunRequest(("stg_orders",)))
    found = show(shop.workspace, ShowRequest("stg_orders"))

    assert ["the order", None] == [each.description for each in found.columns]


def rows(shop, **asked):
    return show(shop.workspace, ShowRequest(**asked)).values


def test_columns_are_read_in_the_order_they_are_named(built):
    found = show(built.workspace, ShowRequest("stg_orders", columns=("COUNTRY", "id"), limit=1))

    assert (("country", "id"), (("DE", 1),)) == (
        tuple(each.name for each in found.columns),
        found.values,
    )
    assert ({"country": "DE", "id": 1},) == found.rows
    assert [] == built.sessions


def test_a_column_that_is_not_there_is_named_with_the_nearest(built):
    with pytest.raises(NothingSelected, match="`stg_orders` has no column `contry`; did you mean"):
        rows(built, model="stg_orders", columns=("contry",))


@pytest.mark.parametrize(
    ("where", "ids"),
    [
        ("id = 2", [2]),
        ("id > 1", [2, 3]),
        ("2 <= id and country = 'DE'", [2]),
        ("stg_orders.id in (1, 3) or country is null", [1, 3]),
        ("not (country = 'DE')", [3]),
        ("id between 2 and 3 and country <> 'DE' -- the rest", [3]),
        ("country is not null and id != 1", [2, 3]),
        ("id = 99", []),
    ],
)
def test_a_simple_condition_is_answered_by_the_files(built, where, ids):
    found = show(built.workspace, ShowRequest("stg_orders", where=where))

    assert (ids, "files", where) == (
        [row["id"] for row in found.rows],
        found.read_by,
        found.where,
    )
    assert [] == built.sessions


@pytest.mark.parametrize(
    ("where", "ids"),
    [
        ("id + 1 = 3", [2]),
        ("lower(country) = 'de'", [1, 2]),
        ("id in (SELECT max(id) FROM stg_orders)", [3]),
        ("id = 1.0", [1]),
    ],
)
def test_another_condition_is_asked_of_spark(built, where, ids):
    found = show(built.workspace, ShowRequest("stg_orders", columns=("id",), where=where))

    assert (ids, "spark", 0) == (
        [row["id"] for row in found.rows],
        found.read_by,
        found.table_version,
    )
    assert ["a session"] == built.sessions


@pytest.mark.parametrize(
    ("where", "said"),
    [
        ("contry = 'DE'", "--where:1:1: error[E003] no column `contry`"),
        ("id = 1 and nope(id)", "--where:1:12: error"),
        ("id in (SELECT x FROM nowhere)", "--where:1:22: error"),
        ("id = 1) OR (true", "--where:1:7: error[E009] unexpected `)`"),
        ("id = 1 x", "--where:1:8: error[E009] unexpected `x`"),
        ("id =", "--where:1:"),
    ],
)
def test_a_wrong_condition_is_a_finding_and_nothing_is_read(built, where, said):
    with pytest.raises(ErrorsFound, match="`--where` does not compile: no row was read") as caught:
        rows(built, model="stg_orders", where=where)

    assert said in render_concise(caught.value.findings, caught.value.project.texts)
    assert [] == built.sessions


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("large", "is ephemeral"),
        ("alone", "has not been built"),
        ("report", "has not been built"),
        ("countries", "has not been loaded"),
        ("raw.orders", "is a source"),
    ],
)
def test_what_has_no_table_is_a_preview(built, name, why):
    found = show(built.workspace, ShowRequest(name, limit=1))

    assert (why, "spark", None) == (found.preview, found.read_by, found.table_version)
    assert 1 == len(found.values)
    assert ["a session"] == built.sessions


def test_a_preview_is_of_some_columns_and_rows(shop):
    found = show(shop.workspace, ShowRequest("stg_orders", columns=("id",), where="id >= 2"))

    assert [{"id": 2}, {"id": 3}] == sorted(found.rows, key=lambda row: row["id"])
    with pytest.raises(
        NothingSelected, match="`stg_orders` has not been built: it has no versions"
    ):
        rows(shop, model="stg_orders", version=0)


def test_a_preview_of_what_does_not_compile_is_refused(shop):
    shop.write("models/stg_orders.sql", "SELECT nope FROM raw.orders")

    with pytest.raises(ErrorsFound, match="1 error: no row was read"):
        rows(shop, model="report")
    assert [] == shop.sessions


def test_a_query_reads_the_names_of_the_project(built):
    sql = "SELECT o.country, count(*) AS n FROM stg_orders AS o GROUP BY o.country ORDER BY n"
    found = show(built.workspace, ShowRequest(sql=sql))

    assert ({"country": "FR", "n": 1}, {"country": "DE", "n": 2}) == found.rows
    assert (None, None, "spark") == (found.model, found.target, found.read_by)


@pytest.mark.parametrize(
    ("sql", "said"),
    [
        ("SELECT contry FROM stg_orders", "--sql:1:8: error[E003] no column `contry`"),
        ("SELECT * FROM nowhere", "--sql:1:15: error"),
        ("DROP TABLE stg_orders", "--sql:1:1: error"),
        ("SELECT 1; SELECT 2", "--sql:1:"),
    ],
)
def test_a_wrong_query_is_a_finding_and_nothing_is_read(built, sql, said):
    with pytest.raises(ErrorsFound, match="`--sql` does not compile: no row was read") as caught:
        rows(built, sql=sql)

    assert said in render_concise(caught.value.findings, caught.value.project.texts)
    assert [] == built.sessions


def test_a_query_is_the_whole_question(shop):
    for other in ({"model": "x"}, {"version": 0}, {"columns": ("a",)}, {"where": "a"}):
        with pytest.raises(InvalidRequest, match="`--sql` is the whole question"):
            rows(shop, sql="SELECT 1", **other)
    with pytest.raises(InvalidRequest, match="name a model or a table"):
        rows(shop)


def test_what_spark_refuses_is_said(built):
    with pytest.raises(RockyError, match="Spark could not read the rows"):
        rows(built, sql="SELECT CAST(country AS INT) AS x FROM stg_orders")
