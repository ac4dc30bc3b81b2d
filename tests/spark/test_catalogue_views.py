"""Views in Spark's catalogue: what `spark.table` finds there, what is not replaced, who holds none."""

import deltalake
import pytest

from rocky.errors import AdapterUnusable
from rocky.language.names import quote_name
from rocky.spark.session import register_view
from tests.spark.projects import CONFIG, build, errors_of, write_files

pytestmark = pytest.mark.spark

NAME = ("spark_catalog", "default", "seen")
VIEW = '[strategy]\ntype = "view"\n'
FILES = {
    "rocky.toml": CONFIG.replace("[adapter]", "[adapter]\nregister = true"),
    "seeds/labels.csv": "n,label\n0,even\n1,odd\n",
    "models/numbers.sql": "SELECT id, cast(id % 2 AS int) AS n FROM range(10)",
    "models/large.sql": "WITH x AS (SELECT * FROM numbers) SELECT * FROM x WHERE x.id > 4; -- five",
    "models/large.toml": '[strategy]\ntype = "ephemeral"\n',
    "models/named.sql": "SELECT l.id, `labels`.label FROM large l JOIN labels ON labels.n = l.n",
    "models/named.toml": VIEW,
    "models/counted.sql": "SELECT label, count(*) AS many FROM named GROUP BY ALL",
    "models/counted.toml": VIEW,
}


@pytest.fixture
def catalogue(spark):
    """The names that the test may use, gone when it ends."""
    yield spark
    for name in ("counted", "named", "seen"):
        spark.sql(f"DROP VIEW IF EXISTS spark_catalog.default.{name}")
    for name in ("numbers", "labels", "taken"):
        spark.sql(f"DROP TABLE IF EXISTS spark_catalog.default.{name}")


def test_a_view_is_found_by_its_name_and_replaced_by_the_next(catalogue):
    assert register_view(catalogue, NAME, "SELECT 1 AS one") is None
    assert [(1,)] == [tuple(row) for row in catalogue.table("default.seen").collect()]

    assert register_view(catalogue, NAME, "SELECT 2 AS two, 3 AS three") is None
    assert [(2, 3)] == [tuple(row) for row in catalogue.newSession().table("seen").collect()]


def test_a_view_of_somebody_else_is_not_replaced(catalogue):
    catalogue.sql("CREATE VIEW spark_catalog.default.seen AS SELECT 'theirs' AS whose")

    with pytest.raises(AdapterUnusable, match="a view that Rocky did not make"):
        register_view(catalogue, NAME, "SELECT 1 AS one")

    assert "theirs" == catalogue.table("seen").first()[0]


def test_a_table_is_not_replaced(catalogue, tmp_path):
    place = tmp_path / "taken"
    catalogue.sql(f"CREATE TABLE spark_catalog.default.taken (n int) USING csv LOCATION '{place}'")

    with pytest.raises(AdapterUnusable, match="is a table, or a view"):
        register_view(catalogue, (*NAME[:2], "taken"), "SELECT 1 AS one")


def test_a_catalogue_that_holds_no_views_is_named(catalogue):
    kind = "org.apache.spark.sql.execution.datasources.v2.jdbc.JDBCTableCatalog"
    session = catalogue.newSession()
    for key, value in {
        "": kind,
        ".url": "jdbc:derby:memory:views;create=true",
        ".driver": "org.apache.derby.iapi.jdbc.AutoloadedDriver",
    }.items():
        session.conf.set(f"spark.sql.catalog.flat{key}", value)

    assert "the catalogue `flat` holds no views" == register_view(
        session, ("flat", "APP", "seen"), "SELECT 1 AS one"
    )


def test_a_query_that_the_catalogue_refuses_is_an_error(catalogue):
    with pytest.raises(AdapterUnusable, match="could not be registered in Spark's catalogue"):
        register_view(catalogue, NAME, "SELECT * FROM no_such_table")


def test_views_of_a_run_are_found_by_everybody(catalogue, tmp_path, monkeypatch):
    def register_plainly(session, name, uri):
        """A table of Parquet in the place of Delta's connector, which need not be at hand."""
        full = ".".join(map(quote_name, name))
        files = deltalake.DeltaTable(uri).file_uris()
        place = tmp_path / "plain" / name[2]
        if not place.exists():
            session.read.parquet(*files).write.parquet(str(place))
        session.sql(f"CREATE TABLE IF NOT EXISTS {full} USING parquet LOCATION '{place}'")

    monkeypatch.setattr("rocky.run.engine.spark.open_catalogue", lambda _session: None)
    monkeypatch.setattr("rocky.run.engine.spark.register_table", register_plainly)
    root = write_files(tmp_path / "shop", FILES)

    report = build(root, catalogue)

    assert {} == errors_of(report)
    assert () == report.warnings
    found = catalogue.newSession().sql("SELECT label, many FROM default.counted ORDER BY label")
    assert [("even", 2), ("odd", 3)] == [tuple(row) for row in found.collect()]
    assert 5 == catalogue.table("spark_catalog.default.named").count()
