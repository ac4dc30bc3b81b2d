"""Views in Spark's catalogue: over names that it knows, told in every run, and said where it cannot be."""

import pytest

from rocky.project.configuration.blocks import Adapter
from rocky.run.prepare.resources import announcements_for
from tests.run.runs import TABLE, Shop, statuses

VIEW = '[strategy]\ntype = "view"\n'
FILES = {
    "models/recent.sql": "SELECT id, country FROM stg_orders WHERE id > 1;\n-- the newest\n",
    "models/recent.toml": VIEW,
    "models/labelled.sql": (
        "WITH x AS (SELECT * FROM recent) SELECT x.id, c.label, large.country\n"
        "FROM x JOIN countries c ON x.country = c.code JOIN large ON large.id = x.id"
    ),
    "models/labelled.toml": VIEW,
}
RAW = {"models/raw_view.sql": "SELECT id FROM raw.orders", "models/raw_view.toml": VIEW}
ABOVE = {"models/above.sql": "SELECT id FROM raw_view", "models/above.toml": VIEW}


def shop_of(tmp_path, files) -> Shop:
    shop = Shop(tmp_path, files)
    shop.announce = announcements_for(Adapter(type="spark", register=True))
    return shop


@pytest.fixture
def shop(tmp_path) -> Shop:
    return shop_of(tmp_path, FILES)


def squeezed(sql: str) -> str:
    return " ".join(sql.split())


@pytest.mark.slow
def test_a_view_is_registered_over_the_names_of_tables(shop):
    report = shop.run()

    found = squeezed(shop.engine.catalogue.registered[f"{TABLE}recent"])
    assert "FROM `spark_catalog`.`default`.`stg_orders`" in found
    assert found.startswith("WITH `rocky_stg_orders_")
    assert ";" not in found
    assert () == report.warnings


@pytest.mark.slow
def test_what_it_reads_is_a_view_a_seed_a_query_or_a_table(shop):
    shop.run()

    found = squeezed(shop.engine.catalogue.registered[f"{TABLE}labelled"])
    assert "AS ( SELECT * FROM `spark_catalog`.`default`.`recent` )" in found
    assert "AS ( SELECT * FROM `spark_catalog`.`default`.`countries` )" in found
    # The ephemeral model has no name there: its query stands in the view.
    assert "WHERE id > 1 )" in found
    assert "`large`" not in found.partition("SELECT * FROM ( WITH x")[0].replace("AS `large`", "")
    assert f"{TABLE}countries" in shop.engine.catalogue.registered


@pytest.mark.slow
def test_a_run_that_builds_nothing_tells_of_views_too(shop):
    shop.run()
    again = shop.run()

    assert {f"{TABLE}recent", f"{TABLE}labelled"} <= set(shop.engine.catalogue.registered)
    assert {"success", "reused"} == set(statuses(again).values())


@pytest.mark.slow
def test_only_views_that_were_selected_and_those_they_read_are_told_of(shop):
    shop.run()
    shop.run("labelled")

    assert {f"{TABLE}{name}" for name in ("recent", "labelled", "countries", "stg_orders")} == set(
        shop.engine.catalogue.registered
    )


@pytest.mark.slow
def test_nobody_is_told_without_the_setting(tmp_path):
    shop = Shop(tmp_path, FILES)
    shop.run()
    opened = shop.opened
    shop.run()

    assert {} == shop.engine.catalogue.registered
    assert opened == shop.opened


@pytest.mark.slow
def test_a_view_over_files_is_said_not_to_be_there(tmp_path):
    shop = shop_of(tmp_path, FILES | RAW | ABOVE)

    report = shop.run()

    assert 0 == report.exit_code
    assert f"{TABLE}recent" in shop.engine.catalogue.registered
    assert {f"{TABLE}raw_view", f"{TABLE}above"}.isdisjoint(shop.engine.catalogue.registered)
    why = (
        "it reads the source `raw.orders` (`csv`), which is no table of a catalogue;"
        " copy it into a table, and read that"
    )
    assert {
        f"`raw_view` is not in Spark's catalogue: {why}",
        f"`above` is not in Spark's catalogue: it reads the view `raw_view`, which is not there:"
        f" {why}",
    } == set(report.warnings)


def test_a_catalogue_that_holds_no_views_says_so(shop, monkeypatch):
    monkeypatch.setattr(
        "tests.run.memory_engine.MemoryCatalogue.register_view",
        lambda *_: "the catalogue `spark_catalog` holds no views",
    )

    report = shop.run("+recent")

    assert (
        "`recent` is not in Spark's catalogue: the catalogue `spark_catalog` holds no views",
    ) == report.warnings
