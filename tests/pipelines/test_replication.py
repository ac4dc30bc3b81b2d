"""Replication: rows exactly once, whatever happens between."""

from tests.pipelines.lakes import ORDERS, LakeProject, at, statuses


def order(number: int, day: int, **more: object) -> dict[str, object]:
    return {"id": number, "synced": at(day), **more}


def test_the_first_run_copies_everything_and_the_next_only_what_is_new(tmp_path):
    lake = LakeProject(tmp_path)
    lake.put([order(1, 1), order(2, 2)])

    first = lake.run()
    lake.put([order(3, 3)], file="part-1.parquet")
    second = lake.run()

    assert {ORDERS: "success"} == statuses(first)
    assert [2, 1] == [each.run.outcomes[0].execution.rows_affected for each in (first, second)]
    assert [1, 2, 3] == [row["id"] for row in lake.rows()]


def test_a_source_in_which_nothing_happened_needs_no_spark(tmp_path):
    lake = LakeProject(tmp_path)
    lake.put([order(1, 1)])
    lake.run()
    lake.opened = 0

    report = lake.run()

    assert 0 == lake.opened
    assert (ORDERS,) == report.run.unchanged
    assert {} == statuses(report)
