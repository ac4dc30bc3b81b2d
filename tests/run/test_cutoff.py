"""An input that changed only in columns that a model does not read does not build the model."""

from pathlib import Path

import pytest
from pyspark.errors import PySparkException

from rocky.run.outcomes import RunResult
from rocky.run.prepare.resources import RunParameters
from tests.run.runs import Shop, reasons
from tests.run.test_reuse import built, reused
from tests.table_files import data_files

pytestmark = pytest.mark.slow

WIDE = "SELECT id, country, upper(country) AS loud FROM raw.orders"
QUIET = WIDE.replace("upper", "lower")


def make_shop(root: Path, reader: str, **more: str) -> Shop:
    """A shop with a wide table and one reader, built once."""
    files = {"models/wide.sql": WIDE, "models/reader.sql": reader}
    shop = Shop(root, files | {name.replace("__", "/"): text for name, text in more.items()})
    shop.run("wide", "reader")
    return shop


def edit(shop: Shop, wide: str = QUIET) -> RunResult:
    shop.write("models/wide.sql", wide)
    return shop.run("wide", "reader")


@pytest.mark.sampled
@pytest.mark.parametrize(
    "reader",
    [
        "SELECT id FROM wide WHERE country <> 'XX'",
        "SELECT count(*) AS n FROM wide",
        "SELECT wide.id * 2 AS twice FROM wide",
        "SELECT w.id, o.id AS other FROM wide w JOIN raw.orders o ON w.id = o.id",
        "WITH few AS (SELECT id FROM wide) SELECT max(id) AS top FROM few",
        "SELECT id FROM raw.orders o WHERE EXISTS (SELECT 1 FROM wide w WHERE w.id = o.id)",
        "SELECT country, max(id) AS total FROM wide GROUP BY country ORDER BY total",
    ],
)
def test_a_column_that_nobody_reads_leaves_the_reader_alone(tmp_path, reader):
    shop = make_shop(tmp_path, reader)
    first, before = shop.records()[0].run_id, shop.rows("reader")

    report = edit(shop)

    assert (["wide"], {"reader": "columns"}) == (built(report), reused(report))
    assert (
        f"reused from {first}, only columns that it does not read changed"
        == (reasons(report)["reader"])
    )
    assert before == shop.rows("reader")


@pytest.mark.sampled
@pytest.mark.parametrize(
    "reader",
    [
        "SELECT loud FROM wide",
        "SELECT id FROM wide WHERE loud <> 'XX'",
        "SELECT * FROM wide",
        "SELECT count(*) AS n FROM (SELECT DISTINCT * FROM wide)",
        "SELECT count(*) AS n FROM (SELECT DISTINCT loud FROM wide)",
        "SELECT count(*) AS n FROM wide NATURAL JOIN (SELECT 'DE' AS loud)",
        "SELECT id FROM wide ORDER BY loud",
        "SELECT id, row_number() OVER (ORDER BY loud, id) AS place FROM wide",
        "SELECT id FROM raw.orders o WHERE EXISTS (SELECT 1 FROM wide w WHERE w.loud = o.country)",
        "SELECT id FROM raw.orders WHERE country IN (SELECT loud FROM wide)",
        "SELECT id FROM wide GROUP BY id HAVING max(loud) > 'A'",
        "SELECT a.id FROM wide a JOIN wide b ON a.id = b.id AND a.loud = b.loud",
        "SELECT id AS loud, loud AS x FROM wide",
        "SELECT count(*) AS n FROM (SELECT loud FROM wide UNION SELECT country FROM raw.orders)",
    ],
)
def test_a_column_that_is_read_in_any_way_builds_the_reader(tmp_path, reader):
    shop = make_shop(tmp_path, reader)

    report = edit(shop)

    assert ["wide", "reader"] == built(report)


def test_other_rows_build_a_reader_that_only_counts_them(tmp_path):
    shop = make_shop(tmp_path, "SELECT count(*) AS n FROM wide")

    assert ["wide", "reader"] == built(edit(shop, WIDE + " WHERE id > 1"))
    assert [(2,)] == shop.rows("reader")


def test_the_same_number_of_other_rows_builds_the_reader(tmp_path):
    shop = make_shop(tmp_path, "SELECT id FROM wide")

    assert ["wide", "reader"] == built(edit(shop, WIDE.replace("id,", "id + 1 AS id,")))


def test_rows_whose_columns_met_anew_build_the_reader(tmp_path):
    shop = make_shop(tmp_path, "SELECT id, country FROM wide")
    other = "SELECT 4 - id AS id, country, upper(country) AS loud FROM raw.orders"

    assert ["wide", "reader"] == built(edit(shop, other))


def test_a_column_that_is_added_or_gone_leaves_the_reader_alone(tmp_path):
    shop = make_shop(tmp_path, "SELECT id FROM wide")

    more = edit(shop, "SELECT id, country, 1 AS extra FROM raw.orders")
    less = edit(shop, "SELECT id FROM raw.orders")

    assert [{"reader": "columns"}] * 2 == [reused(more), reused(less)]


def test_a_name_that_meant_a_column_which_is_gone_builds_the_reader(tmp_path):
    shop = make_shop(tmp_path, "SELECT id AS loud, concat(loud, '!') AS seen FROM wide")
    before = shop.rows("reader")

    report = edit(shop, "SELECT id, country FROM raw.orders")

    # Now the name means the column beside it.
    assert ["wide", "reader"] == built(report)
    assert before != shop.rows("reader")


def test_another_type_of_a_column_that_is_read_builds_the_reader(tmp_path):
    shop = make_shop(tmp_path, "SELECT count(country) AS n FROM wide")

    assert ["wide", "reader"] == built(
        edit(shop, "SELECT id, id AS country, 'x' AS loud FROM raw.orders")
    )


def test_through_a_query_in_between_the_reader_is_built(tmp_path):
    shop = make_shop(
        tmp_path,
        "SELECT id FROM middle",
        **{
            "models__middle.sql": "SELECT id, loud FROM wide",
            "models__middle.toml": '[strategy]\ntype = "ephemeral"\n',
        },
    )

    assert ["wide", "reader"] == built(edit(shop))


def test_another_input_that_changed_too_builds_the_reader(tmp_path):
    shop = make_shop(tmp_path, "SELECT w.id FROM wide w JOIN raw.orders o ON w.id = o.id")
    shop.write("data/orders.csv", "id,country\n1,DE\n2,DE\n3,FR\n3,FR\n")

    assert ["wide", "reader"] == built(edit(shop))


def test_another_declaration_of_a_source_builds_the_reader(tmp_path):
    shop = make_shop(tmp_path, "SELECT w.id FROM wide w JOIN raw.orders o ON w.id = o.id")
    declared = (tmp_path / "sources/raw.toml").read_text()
    shop.write("sources/raw.toml", declared + '[source.options]\ndelimiter = ","\n')

    assert ["wide", "reader"] == built(edit(shop))


def test_what_was_reused_by_columns_is_found_without_spark_the_next_time(tmp_path):
    shop = make_shop(tmp_path, "SELECT id FROM wide")
    edit(shop)
    shop.opened = 0

    report = shop.run("wide", "reader")

    assert 0 == shop.opened
    assert {"wide": "content", "reader": "columns"} == reused(report)


def test_columns_are_compared_again_after_a_reader_was_reused_by_them(tmp_path):
    shop = make_shop(tmp_path, "SELECT id FROM wide")
    first = shop.records()[0].run_id
    edit(shop)

    report = edit(shop, WIDE.replace("upper(country)", "'x'"))

    assert {"reader": "columns"} == reused(report)
    assert first == report.outcomes[-1].execution.reused_from


def test_an_old_version_whose_files_are_gone_builds_the_reader(tmp_path):
    shop = make_shop(tmp_path, "SELECT id FROM wide")
    for file in data_files(shop.folder("wide")):
        file.unlink()

    assert ["wide", "reader"] == built(edit(shop))


def test_spark_that_cannot_compare_builds_the_reader(tmp_path, monkeypatch):
    shop = make_shop(tmp_path, "SELECT id FROM wide")

    def fail(self: object, frame: object) -> str:
        raise PySparkException("[DIVIDE_BY_ZERO] Division by zero. SQLSTATE: 22012")

    monkeypatch.setattr("tests.run.memory_engine.MemoryEngine.rows_hash", fail)

    assert ["wide", "reader"] == built(edit(shop))


def test_what_the_comparison_took_is_recorded(tmp_path):
    shop = make_shop(tmp_path, "SELECT id FROM wide")

    (outcome,) = [each for each in edit(shop).outcomes if each.step.name == "reader"]

    assert outcome.execution.metrics is not None


def test_columns_are_left_alone_when_the_settings_say_so(tmp_path):
    shop = make_shop(tmp_path, "SELECT id FROM wide")
    settings = (tmp_path / "rocky.toml").read_text()
    shop.write("rocky.toml", settings + "[reuse]\ncolumn_level = false\n")

    assert ["wide", "reader"] == built(edit(shop))


def test_without_reuse_no_columns_are_compared(tmp_path):
    shop = make_shop(tmp_path, "SELECT id FROM wide")
    shop.write("models/wide.sql", QUIET)

    report = shop.run("wide", "reader", options=RunParameters(parallel=1, reuse=False))

    assert ["wide", "reader"] == built(report)
