"""The catalogue, the graph and the neighbours of a project, as Python asks for them."""

import pytest

import rocky
from rocky.cli.app import COMMANDS, load_command
from rocky.errors import InvalidRequest, NothingSelected
from rocky.operations.page.catalog import CatalogFreshness

FILES = {
    "rocky.toml": '[pipeline.shop]\nmodels = "models/**"\n',
    "sources/raw.toml": """
[[source]]
name = "raw.orders"
description = "as the shop books them"
owner = "shop"
columns = [
  { name = "id", type = "bigint", nullable = false, description = "the key" },
  { name = "amount", type = "decimal(12,2)", classification = "money" },
  { name = "loaded_at", type = "timestamp" },
]
freshness = { time_column = "loaded_at", warn_after = "6 hours", error_after = "1 day" }
""",
    "seeds/rates.csv": "code,rate\na,1\n",
    "models/orders.sql": "SELECT id, amount * 2 AS twice FROM raw.orders WHERE loaded_at IS NOT NULL",
    "models/orders.toml": """
description = "all of them"
owner = "data"
[columns.twice]
description = "two times"
[[tests]]
type = "not_null"
column = "id"
severity = "warning"
""",
    "models/totals.sql": "SELECT sum(twice) AS total FROM orders",
    "models/listed.sql": "SELECT id FROM orders WHERE twice > 1",
}


@pytest.fixture
def shop(tmp_path):
    for name, text in FILES.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    return rocky.open(tmp_path)


def test_the_catalogue_has_every_table(shop):
    tables = shop.catalog().tables

    assert [
        ("raw.orders", "source"),
        ("rates", "seed"),
        ("orders", "model"),
        ("listed", "model"),
        ("totals", "model"),
    ] == [(each.name, each.kind) for each in tables]


def test_a_table_of_the_catalogue_has_columns_and_what_is_said_of_them(shop):
    source, model = shop.catalog("raw.orders", "orders").tables

    assert [
        ("id", "bigint", False, "the key", None),
        ("amount", "decimal(12,2)", True, None, "money"),
        ("loaded_at", "timestamp", True, None, None),
    ] == [
        (each.name, each.type, each.nullable, each.description, each.classification)
        for each in source.columns
    ]
    assert ("shop", "as the shop books them") == (source.owner, source.description)
    assert CatalogFreshness("loaded_at", 21_600, 86_400) == source.freshness
    assert ["the key", "two times"] == [each.description or "the key" for each in model.columns]
    (test,) = model.tests
    assert ("not_null:id", "not_null", "warning", "id") == (
        test.name,
        test.type,
        test.severity,
        test.column,
    )
    assert ("data", "all of them", True) == (model.owner, model.description, model.complete)


def test_what_selects_nothing_is_refused(shop):
    with pytest.raises(NothingSelected):
        shop.catalog("nothing")


def test_the_graph_has_layers_in_which_nothing_needs_another(shop):
    graph = shop.dag()

    assert (("rates", "raw.orders"), ("orders",), ("listed", "totals")) == graph.layers
    assert {
        ("raw.orders", "orders"),
        ("orders", "totals"),
        ("orders", "listed"),
    } == {(each.source, each.target) for each in graph.edges}
    assert {"raw.orders": 0, "rates": 0, "orders": 1, "listed": 2, "totals": 2} == {
        each.name: each.layer for each in graph.nodes
    }


def test_models_of_a_cycle_have_no_layer(shop, tmp_path):
    (tmp_path / "models/orders.sql").write_text("SELECT total AS id, total AS twice FROM totals")
    graph = shop.dag()

    assert {"orders", "totals", "listed"} == {
        each.name for each in graph.nodes if each.layer is None
    }


def near(report):
    return [(each.name, each.kind, each.columns, each.how) for each in report.neighbours]


def test_a_model_needs_what_it_reads_with_the_columns_it_uses(shop):
    assert [
        ("raw.orders", "source", ("amount", "id", "loaded_at"), ("direct", "expression", "filter"))
    ] == near(shop.list("deps", select="orders"))


def test_consumers_are_direct_readers_only(shop):
    assert [("orders", "model", ("id", "twice"), ("direct", "expression", "filter"))] == near(
        shop.list("consumers", select="raw.orders")
    )
    assert [] == near(shop.list("consumers", select="totals"))


def test_a_column_has_neighbours_of_its_own(shop):
    assert [("raw.orders", "source", ("amount",), ("expression",))] == near(
        shop.list("deps", select="orders.twice")
    )
    assert [
        ("listed", "model", (), ("filter",)),
        ("totals", "model", ("total",), ("aggregate",)),
    ] == near(shop.list("consumers", select="orders.twice"))


@pytest.mark.parametrize("select", [(), ("orders", "totals")])
def test_neighbours_are_of_one(shop, select):
    with pytest.raises(InvalidRequest, match="name it"):
        shop.list("deps", select=select)


def test_macros_are_listed_with_their_callers(shop, tmp_path):
    (tmp_path / "macros").mkdir()
    (tmp_path / "macros/twofold.sql").write_text(
        "CREATE MACRO twofold(x EXPRESSION)\nRETURN @x * 2\n"
    )
    (tmp_path / "models/totals.sql").write_text("SELECT sum(@twofold(id)) AS total FROM orders")
    (macro,) = shop.list("macros").macros

    assert ("twofold", "@twofold(x EXPRESSION)", ("totals",)) == (
        macro.name,
        macro.signature,
        macro.called_by,
    )
    with pytest.raises(InvalidRequest, match="not macros"):
        shop.list("macros", select="orders")


def test_every_command_is_its_own():
    assert [] == [name for name in COMMANDS if load_command(name).name != name]
