"""Tables and queries as DataFrames of the caller's session: pinned, checked, nothing left behind."""

import pytest

import rocky
from rocky.errors import InputNotBuilt, InvalidRequest, NothingSelected, RockyError, RunRefused
from tests.api.shells import StandInShell
from tests.spark.projects import write_files

pytestmark = pytest.mark.spark

FILES = {
    "models/things.sql": "SELECT id, upper(name) AS name FROM names",
    "models/seen.sql": "SELECT name AS `{odd}`, id FROM things WHERE name <> '{x}'",
    "models/seen.toml": 'strategy = "view"\n',
    "models/unbuilt.sql": "SELECT id + 1 AS next FROM seen",
    "seeds/names.csv": "id,name\n1,ann\n2,bob\n",
}


@pytest.fixture(scope="module")
def shop(tmp_path_factory, spark):
    """Two versions of one table, and the runs that made them; the third run found it good."""
    root = write_files(tmp_path_factory.mktemp("frames"), FILES)
    opened = rocky.open(root, spark=spark)
    runs = [opened.run("+things")]
    (root / "seeds/names.csv").write_text("id,name\n1,ann\n2,bob\n3,cem\n")
    runs += [opened.run("+things"), opened.run("+things")]
    assert [0, 0, 0] == [each.exit_code for each in runs]
    return opened, [each.run.run_id for each in runs]


def names(frame) -> list[str]:
    return sorted(row[0] for row in frame.select("name").collect())


def test_a_table_is_a_frame_of_the_session_that_was_given(shop, spark):
    opened, _ = shop
    frame = opened.table("things")

    assert ["ANN", "BOB", "CEM"] == names(frame)
    frame.createOrReplaceTempView("mine")
    try:
        assert 3 == spark.sql("SELECT * FROM mine").count()
    finally:
        spark.catalog.dropTempView("mine")


def test_a_table_is_pinned_at_a_version_or_a_run(shop):
    opened, (first, second, third) = shop

    assert ["ANN", "BOB"] == names(opened.table("things", version=0))
    assert ["ANN", "BOB"] == names(opened.table("things", run=first))
    assert ["ANN", "BOB", "CEM"] == names(opened.table("things", run=second))
    assert ["ANN", "BOB", "CEM"] == names(opened.table("things", run=third))
    assert ["ann", "bob"] == names(opened.table("names", run=first))


def test_a_frame_that_was_made_reads_the_same_rows_after_a_run(tmp_path, spark):
    root = write_files(tmp_path, {"models/a.sql": "SELECT 1 AS name"})
    opened = rocky.open(root, spark=spark)
    opened.run()
    before = opened.table("a"), opened.sql("SELECT name FROM a")
    (root / "models/a.sql").write_text("SELECT 2 AS name")
    opened.run()

    assert [[1], [1]] == [names(each) for each in before]
    assert [2] == names(opened.table("a"))


def test_views_and_unbuilt_models_are_read_by_their_queries(shop):
    opened, _ = shop

    assert ["{odd}", "id"] == opened.table("seen").columns
    assert [(9,)] == [tuple(row) for row in opened.sql("SELECT sum(next) FROM unbuilt").collect()]


def test_a_query_reads_names_of_the_project_and_leaves_no_view(shop, spark):
    opened, _ = shop
    before = spark.catalog.listTables(), spark.conf.getAll
    found = opened.sql(
        "SELECT t.name, n.name AS low, '{y}' AS y FROM things AS t JOIN names AS n ON t.id = n.id"
        " JOIN unbuilt AS u ON u.next = t.id + 1 WHERE t.id IN (SELECT id FROM seen) AND n.id = 3"
    )

    assert [("CEM", "cem", "{y}")] == [tuple(row) for row in found.collect()]
    assert before == (spark.catalog.listTables(), spark.conf.getAll)


def test_a_wrong_query_is_refused_with_its_findings(shop):
    opened, _ = shop
    with pytest.raises(RunRefused, match="`sql` does not compile: no row was read") as caught:
        opened.sql("SELECT id,\n  nam FROM things")

    (finding,) = caught.value.diagnostics
    assert ("E003", "sql", 2, 3) == (
        finding.code.value,
        finding.span.file,
        finding.span.line,
        finding.span.col,
    )


def test_what_is_not_there_is_said(shop):
    opened, (first, *_) = shop
    with pytest.raises(NothingSelected, match="no version 7; the newest is"):
        opened.table("things", version=7)
    with pytest.raises(NothingSelected, match="no run `nope`"):
        opened.table("things", run="nope")
    with pytest.raises(NothingSelected, match="`seen` is a view: it has no versions"):
        opened.table("seen", version=0)
    with pytest.raises(InputNotBuilt, match=r"has not been built: `run\('unbuilt'\)` makes it"):
        opened.table("unbuilt")
    with pytest.raises(InvalidRequest, match="by `version` or by `run`"):
        opened.table("things", version=0, run=first)


def test_a_query_that_a_session_would_rewrite_is_refused(shop, spark):
    opened, _ = shop
    before = spark.conf.get("spark.sql.variable.substitute")
    spark.conf.set("spark.sql.variable.substitute", "true")
    try:
        with pytest.raises(RockyError, match="this session replaces"):
            opened.sql("SELECT '${spark.app.name}' AS name")
    finally:
        spark.conf.set("spark.sql.variable.substitute", before)


def test_a_cell_of_a_notebook_is_a_frame_of_its_session(shop, spark):
    opened, _ = shop
    shell = StandInShell()
    rocky.load_ipython_extension(shell)
    shell.user_ns["spark"] = spark
    shell.line("rocky_project", str(opened.config))
    found = shell.cell("kept", "SELECT name FROM things\nWHERE id = 1")

    assert ["ANN"] == names(found)
    assert found is shell.user_ns["kept"]
    assert found.sparkSession is spark


def test_a_workspace_on_a_branch_gives_the_branchs_rows(tmp_path, spark):
    root = write_files(tmp_path, {"models/a.sql": "SELECT 1 AS name"})
    opened = rocky.open(root, spark=spark)
    opened.run()
    opened.branch("two").create()
    (root / "models/a.sql").write_text("SELECT 2 AS name")
    mine = rocky.open(root, spark=spark, branch="two")
    mine.run()

    assert ([1], [2]) == (names(opened.table("a")), names(mine.table("a")))
    assert [2] == names(mine.sql("SELECT name FROM a"))
