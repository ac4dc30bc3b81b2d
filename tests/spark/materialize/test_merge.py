import pytest

from rocky.errors import ConcurrentChange, ModelFailed
from rocky.run.materialize.key_bounds import bounds_of
from rocky.spark.interface import Layout
from rocky.store.delta.change import Change

pytestmark = [pytest.mark.spark, pytest.mark.sampled]

COLUMNS = "id INT, region STRING, amount INT, tags MAP<STRING, INT>"
QUERY = "SELECT id, region, amount, tags FROM raw.t"
STRATEGY = 'type = "merge"\nunique_key = ["id", "region"]'


@pytest.fixture
def large_tables(monkeypatch):
    """No table is small enough to be written anew as a whole."""
    monkeypatch.setattr("rocky.run.materialize.merge._SMALL_ROWS", -1)


@pytest.fixture(params=["small", "large"])
def ledger(bench, request):
    """A merged table; both ways to merge must come to the same."""
    if request.param == "large":
        request.getfixturevalue("large_tables")
    bench.edit(COLUMNS, QUERY, STRATEGY)
    return bench


@pytest.fixture(params=["found", "asked", "collected"])
def numbers(bench, large_tables, request, monkeypatch):
    """Four files of a hundred rows each; which of them change is found here, or asked of Spark.

    What is merged is written by Spark, or collected.
    """
    if request.param == "asked":
        monkeypatch.setattr("rocky.run.materialize.merge._NEAR_BYTES", 1e-9)
    bench.is_little = request.param == "collected"
    bench.edit(
        "id INT, amount INT", "SELECT id, amount FROM raw.t", 'type = "merge"\nunique_key = ["id"]'
    )
    bench.layout = Layout(canonical=True, max_rows_per_file=100, cluster_by=("id",))
    bench.build(*((2 * n, 0) for n in range(400)))
    return bench


def amounts(bench):
    return [row[:3] for row in bench.rows()]


def test_a_row_is_updated_where_its_key_is_and_inserted_where_it_is_not(ledger):
    first = ledger.build((1, "n", 10, None), (2, "n", 20, None), (2, None, 21, None))
    second = ledger.build((2, None, 22, {"a": 1}), (3, "n", 30, None), (None, None, 0, None))

    assert [
        (1, "n", 10),
        (2, "n", 20),
        (2, None, 22),
        (3, "n", 30),
        (None, None, 0),
    ] == amounts(ledger)
    assert ["replaced", "merged"] == [first.action, second.action]
    assert ledger.hash_recorded == ledger.hash_again()


def test_a_merge_that_changes_nothing_is_no_commit(ledger):
    rows = [(1, "n", 10, {"a": 1, "b": 2}), (2, None, None, None)]
    ledger.build(*rows)
    again = ledger.build((1, "n", 10, {"b": 2, "a": 1}), rows[1])
    nothing = ledger.build()

    assert [((), "unchanged"), ((), "unchanged")] == [
        (each.commits, each.action) for each in (again, nothing)
    ]


def test_two_rows_of_one_key_are_an_error_with_an_example(ledger):
    with pytest.raises(ModelFailed, match=r"2 rows for one unique key \(id = 1, region = NULL\)"):
        ledger.build((1, None, 1, None), (1, None, 2, None))
    assert ledger.table.snapshot() is None
    ledger.build((1, None, 1, None))
    with pytest.raises(ModelFailed, match="2 rows for one unique key"):
        ledger.build((7, "s", 1, None), (7, "s", 1, None))

    assert [(1, None, 1)] == amounts(ledger)


def test_only_files_with_changed_rows_are_rewritten(numbers):
    before = {file.path: file.rows for file in numbers.snapshot.files}
    # Of 6 nothing changes, 309 is new and between two others, 790 is in the last file.
    built = numbers.build((6, 0), (309, 3), (790, 1))
    after = {file.path for file in numbers.snapshot.files}

    assert ([100] * 4, 1) == ([*before.values()], len(before.keys() - after))
    assert 101 == built.rows
    assert (401, 4) == (len(numbers.rows()), sum(amount for _, amount in numbers.rows()))
    assert numbers.hash_recorded == numbers.hash_again()


def test_a_key_that_a_table_holds_twice_hides_no_row_that_is_new(numbers):
    now = numbers.snapshot
    # The first file once more: its bytes are salted, its keys are there twice.
    first = min(now.files, key=lambda file: bounds_of(file, "id").low)
    numbers.table.commit(Change("APPEND", now, now.schema, (), (first,)))
    numbers.build((6, 7), (309, 3))

    held = [row for row in numbers.rows() if row[1]]
    assert [(309, 3), (6, 7), (6, 7)] == held


def test_rows_of_one_key_that_a_table_held_before_it_was_merged_are_all_kept(ledger):
    ledger.edit(COLUMNS, QUERY, 'type = "full_refresh"')
    ledger.build((1, "n", 10, None), (1, "n", 11, None), (2, "n", 20, None), (2, "n", 21, None))
    ledger.edit(COLUMNS, QUERY, STRATEGY)
    ledger.build((2, "n", 22, None), (3, "n", 30, None))

    assert [10, 11, 22, 22, 30] == sorted(amount for _, _, amount in amounts(ledger))
    assert ledger.hash_recorded == ledger.hash_again()


def test_a_merge_of_a_large_table_asks_little(numbers, spark, request):
    scheduler = spark._jvm.org.apache.spark.SparkContext.getOrCreate().dagScheduler()
    before = scheduler.numTotalJobs()
    numbers.build((6, 1), (790, 1))

    # The result, sent to the tasks, and the write; and what the question takes. None for the hash
    # of what goes, which the log tells.
    allowed = 7 if "asked" in request.node.name else 3
    assert allowed >= scheduler.numTotalJobs() - before
    assert numbers.hash_recorded == numbers.hash_again()
    assert not list((numbers.root / "warehouse").rglob("_staging/*"))


def test_a_merge_leaves_the_files_that_writing_all_rows_would(numbers):
    numbers.build(*((2 * n, 1) for n in range(50, 170)))
    merged = {file.name for file in numbers.snapshot.files}
    numbers.build(*((2 * n, int(50 <= n < 170)) for n in range(400)), full_refresh=True)

    assert {file.name for file in numbers.snapshot.files} == merged


def test_a_row_without_a_key_is_met_by_none_that_has_one(bench, large_tables):
    bench.edit(
        "id INT, amount INT", "SELECT id, amount FROM raw.t", 'type = "merge"\nunique_key = ["id"]'
    )
    bench.build((None, 1), (0, 2), (1, 3))
    bench.build((0, 20), (2, 40))

    assert [(None, 1), (0, 20), (1, 3), (2, 40)] == sorted(
        bench.rows(), key=lambda row: (row[0] is not None, row)
    )
    assert bench.hash_recorded == bench.hash_again()


EDGES = """
    SELECT CAST(k AS INT) AS id, CAST(k AS TINYINT) AS tiny, CAST(k AS BIGINT) * 4294967296 AS big,
           DATE '0001-01-01' AS d, TIMESTAMP '0001-01-01 00:00:00.000001' AS t,
           TIMESTAMP_NTZ '9999-12-31 23:59:59.999999' AS n, CAST('NaN' AS DOUBLE) AS x,
           CAST('-0.0' AS FLOAT) AS y, CAST(k AS DECIMAL(38, 10)) / 3 AS dec, k = 1 AS b,
           CAST(X'ff00' AS STRING) AS s, X'00ff' AS bin, CAST(NULL AS STRING) AS none
    FROM raw.t
"""


def test_rows_that_are_collected_are_those_that_spark_would_write(bench, large_tables):
    found = []
    for bench.is_little in (False, True):
        bench.edit("k INT", EDGES, 'type = "merge"\nunique_key = ["id"]')
        bench.layout = Layout(canonical=True)
        bench.build((1,), (2,), full_refresh=True)
        bench.build((2,), (3,))
        found.append((bench.hash_recorded, [file.name for file in bench.snapshot.files]))

    assert found[0] == found[1]
    assert bench.hash_recorded == bench.hash_again()


def test_more_rows_than_are_collected_are_written_by_spark(numbers, monkeypatch):
    monkeypatch.setattr("rocky.spark.frame._FEW_ROWS", 2)
    built = numbers.build((0, 1), (2, 1), (4, 1))

    assert (100, "merged") == (built.rows, built.action)
    assert [(0, 1), (2, 1), (4, 1), (6, 0)] == sorted(numbers.rows())[:4]


def test_a_merge_holds_beside_changes_to_other_keys(numbers):
    numbers.build_while(lambda: numbers.build((790, 2), (901, 4)), (6, 1))

    assert (401, 7) == (len(numbers.rows()), sum(amount for _, amount in numbers.rows()))
    assert numbers.hash_recorded == numbers.hash_again()
    with pytest.raises(ConcurrentChange):
        numbers.build_while(lambda: numbers.build((1, 2)), (1, 1), (4, 1))
    assert numbers.hash_recorded == numbers.hash_again()


def test_a_small_table_is_written_anew_in_one_query(bench, spark):
    bench.edit(COLUMNS, QUERY, STRATEGY)
    bench.build(*((n, "n", 0, None) for n in range(50)))
    scheduler = spark._jvm.org.apache.spark.SparkContext.getOrCreate().dagScheduler()
    before = scheduler.numTotalJobs()
    bench.build((5, "n", 1, None), (60, "n", 1, None))

    # The shuffle by key, and the write.
    assert 2 >= scheduler.numTotalJobs() - before
    assert (51, 2) == (len(bench.rows()), sum(row[2] for row in bench.rows()))


def test_only_the_columns_to_update_are_taken_from_a_match(bench):
    bench.edit(
        "id INT, first STRING, last STRING",
        "SELECT id, first, last FROM raw.t",
        'type = "merge"\nunique_key = ["ID"]\nupdate_columns = ["last"]',
    )
    bench.build((1, "a", "b"))
    bench.build((1, "c", "d"), (2, "e", "f"))

    assert [(1, "a", "d"), (2, "e", "f")] == bench.rows()


def test_a_column_that_is_new_is_filled_where_rows_are_updated(ledger):
    ledger.build((1, "n", 10, None), (2, "n", 20, None))
    ledger.edit(COLUMNS, "SELECT id, region, amount, tags, amount + 1 AS more FROM raw.t", STRATEGY)
    ledger.build((1, "n", 10, None))

    assert [(1, "n", 10, None, 11), (2, "n", 20, None, None)] == ledger.rows()
    assert ledger.hash_recorded == ledger.hash_again()


def test_a_merge_that_meets_a_foreign_commit_is_refused(ledger):
    ledger.build((1, "n", 10, None))

    with pytest.raises(ConcurrentChange):
        ledger.build_while(lambda: ledger.build((1, "n", 12, None)), (1, "n", 11, None))
    assert [(1, "n", 12)] == amounts(ledger)
