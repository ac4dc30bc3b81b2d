"""`rocky discover` and runs that read what nobody declares, on Spark."""

import tomllib

import pytest

import rocky

pytestmark = pytest.mark.spark

CONFIG = '[compile]\nundeclared = "unknown"\n\n[adapter]\n\n[pipeline.p]\nmodels = "models/**"\n'
ORDERS = """\
# Of the shop.
[[source]]
name = "raw.orders"
format = "csv"
path = "orders.csv"

[[source]]
name = "raw.sizes"
format = "parquet"
path = "sizes"
columns = [
  { name = "id", type = "int", nullable = false, description = "key" },
  { name = "gone", type = "string" },
]
"""


@pytest.fixture
def shop(spark, tmp_path):
    for folder in ("models", "sources"):
        (tmp_path / folder).mkdir()
    (tmp_path / "rocky.toml").write_text(CONFIG)
    (tmp_path / "sources/raw.toml").write_text(ORDERS)
    (tmp_path / "orders.csv").write_text("id,amount\n1,2.5\n2,4.5\n")
    (tmp_path / "models/orders.sql").write_text("SELECT id, amount * 2 AS twice FROM raw.orders\n")
    (tmp_path / "models/people.sql").write_text(
        "SELECT o.id, p.name, o.twice FROM orders o JOIN discover_crm.people p ON p.id = o.id\n"
    )
    spark.range(2).selectExpr("id", "'x' AS size").write.parquet(f"{tmp_path}/sizes")
    spark.sql("CREATE SCHEMA IF NOT EXISTS discover_crm")
    spark.sql(
        f"CREATE TABLE discover_crm.people USING parquet LOCATION '{tmp_path}/people'"
        " AS SELECT id, concat('n', id) AS name FROM range(5)"
    )
    yield rocky.open(tmp_path, spark=spark)
    spark.sql("DROP SCHEMA discover_crm CASCADE")


def test_models_over_unknown_columns_are_built_of_what_is_there(shop):
    shop.run()

    assert [(1, "n1", 5.0), (2, "n2", 9.0)] == sorted(map(tuple, shop.table("people").collect()))


def test_what_sources_have_is_shown_then_declared_then_the_same(shop, tmp_path):
    root = tmp_path
    shown = {each.name: each for each in shop.discover().sources}
    assert ORDERS == (root / "sources/raw.toml").read_text()
    written = shop.discover(write=True).written
    declared = tomllib.loads((root / "sources/raw.toml").read_text())["source"]
    people = tomllib.loads((root / "sources/discover_crm.toml").read_text())["source"]

    assert {
        "raw.orders": "untyped",
        "raw.sizes": "changed",
        "discover_crm.people": "undeclared",
    } == {name: each.status for name, each in shown.items()}
    assert [("id", "int", "bigint"), ("gone", "string", None), ("size", None, "string")] == [
        (each.column, (each.declared or "").removesuffix(" not null") or None, found)
        for each in shown["raw.sizes"].changes
        for found in [(each.found or "").removesuffix(" not null") or None]
    ]
    assert ("sources/discover_crm.toml", "sources/raw.toml") == written
    assert [{"name": "id", "type": "int"}, {"name": "amount", "type": "double"}] == declared[0][
        "columns"
    ]
    # What a person said of nulls in files, and of a column, stays.
    assert {"name": "id", "type": "bigint", "nullable": False, "description": "key"} == declared[1][
        "columns"
    ][0]
    assert "id bigint, name string" == ", ".join(
        f"{each['name']} {each['type']}" for each in people[0]["columns"]
    )
    assert {"same"} == {each.status for each in shop.discover().sources}
    assert 0 == shop.compile().summary.unknown_columns


def test_a_source_whose_name_is_a_variable_is_declared_at_its_place(shop, tmp_path):
    text = ORDERS.replace('"raw.orders"', '"${SCHEMA:-raw}.orders"')
    (tmp_path / "sources/raw.toml").write_text(text)

    assert ("sources/raw.toml",) == shop.discover("raw.orders", write=True).written
    made = (tmp_path / "sources/raw.toml").read_text()
    assert 'name = "${SCHEMA:-raw}.orders"' in made
    assert ["id", "amount"] == [
        each["name"] for each in tomllib.loads(made)["source"][0]["columns"]
    ]


def test_a_source_that_cannot_be_read_keeps_no_other_from_being_written(shop, tmp_path):
    (tmp_path / "orders.csv").unlink()
    found = shop.discover("raw.*", write=True)

    assert found.has_errors
    assert ["unreadable", "changed"] == [each.status for each in found.sources]
    assert ("sources/raw.toml",) == found.written
    assert 'path = "orders.csv"\n\n[[source]]' in (tmp_path / "sources/raw.toml").read_text()


def test_codes_with_leading_zeros_are_texts_and_other_orders_are_told_and_mended(shop, tmp_path):
    (tmp_path / "orders.csv").write_text(
        "id,zip,amount,n\n10,4051,2.5,7\n20,00840,4.5,0\n30,,0.5,-3\n"
    )
    (found,) = shop.discover("raw.orders", write=True).sources
    assert ["int", "string", "double", "int"] == [each.type for each in found.columns]
    assert [("same", ())] == [
        (each.status, each.changes) for each in shop.discover("raw.orders").sources
    ]

    (tmp_path / "orders.csv").write_text("zip,id,amount,n\n00840,10,2.5,7\n")
    (moved,) = shop.discover("raw.orders").sources
    assert "changed" == moved.status
    assert [("zip", "column 2", "column 1"), ("id", "column 1", "column 2")] == [
        (each.column, each.declared, each.found) for each in moved.changes
    ]
    shop.discover("raw.orders", write=True)
    declared = tomllib.loads((tmp_path / "sources/raw.toml").read_text())["source"][0]["columns"]
    assert ["zip", "id", "amount", "n"] == [each["name"] for each in declared]
    assert "same" == shop.discover("raw.orders").sources[0].status


def test_a_table_that_nobody_declares_is_not_said_to_be_declared(shop, tmp_path):
    (tmp_path / "models/people.sql").write_text("SELECT id FROM discover_crm.nobody\n")

    (found,) = shop.discover("discover_crm.*").sources

    assert found.error is not None
    assert "table `discover_crm.nobody` (no source declares it)" in found.error
    assert "declared in" not in found.error


def test_a_run_reads_what_is_there_and_not_what_was_kept(shop, tmp_path, spark):
    assert 2 == len(shop.discover(cache=True).cached)
    kept = {each.name: str(each.type) for each in shop.compile().models[0].columns}
    (tmp_path / "orders.csv").write_text("amount,id\n2,1\n4,2\n")
    shop.run()

    assert {"id": "int", "twice": "double"} == kept
    assert [(1, 4), (2, 8)] == sorted(map(tuple, shop.table("orders").collect()))


def test_a_table_that_the_catalogue_lacks_says_where_a_metastore_is_named(shop, tmp_path):
    with (tmp_path / "sources/raw.toml").open("a") as sources:
        sources.write('\n[[source]]\nname = "raw.gone"\nformat = "table"\n')
    (gone,) = [each for each in shop.discover("raw.gone").sources if each.name == "raw.gone"]

    assert "TABLE_OR_VIEW_NOT_FOUND" in gone.error
    assert "Where a metastore has it, name that in `[adapter.conf]`" in gone.error
