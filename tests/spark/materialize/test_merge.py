import pytest

from rocky.errors import ConcurrentChange, ModelFailed
from rocky.spark.interface import Layout

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


def test_only_files_with_changed_rows_are_rewritten(bench, large_tables):
    bench.edit(
        "id INT, amount INT", "SELECT id, amount FROM raw.t", 'type = "merge"\nunique_key = ["id"]'
    )
    bench.layout = Layout(canonical=True, pieces=4)
    bench.build(*((n, 0) for n in range(400)))
    before = {file.path for file in bench.snapshot.files}
    built = bench.build((5, 1), (6, 0))
    after = {file.path for file in bench.snapshot.files}

    assert (4, 1) == (len(before), len(before - after))
    assert 400 > built.rows
    assert 1 == sum(amount for _, amount in bench.rows())
    assert bench.hash_recorded == bench.hash_again()


def test_a_small_table_is_written_anew_in_one_query(bench, spark):
    bench.edit(COLUMNS, QUERY, STRATEGY)
    bench.build(*((n, "n", 0, None) for n in range(50)))
    scheduler = spark._jvm.org.apache.spark.SparkContext.getOrCreate().dagScheduler()
    before = scheduler.numTotalJobs()
    bench.build((5, "n", 1, None), (60, "n", 1, None))

    # Two shuffles and the write.
    assert 3 >= scheduler.numTotalJobs() - before
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
