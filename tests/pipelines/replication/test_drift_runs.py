"""Drift through whole runs, a day apart: what the copy holds, what is recorded, what is on notice."""

import pyarrow as pa
import pytest

from rocky.ledger.writer import open_ledger
from tests.pipelines.lakes import ORDERS, LakeProject, at, statuses

pytestmark = pytest.mark.slow


def drift(report) -> list[str]:
    """What was graded, as `column grade days`."""
    return [
        " ".join(
            str(part) for part in (each.column, each.grade, each.days_left) if part is not None
        )
        for outcome in report.run.outcomes
        for each in outcome.execution.drift
    ]


def notices(project: LakeProject) -> list[str]:
    with open_ledger(project.state) as ledger, ledger.lookups() as lookups:
        return [f"{each.column} {each.change}" for each in lookups.grace_periods()]


@pytest.fixture
def project(tmp_path):
    made = LakeProject(tmp_path, more="[schema_evolution]\ngrace_period_days = 3\n")
    made.put([{"id": 1, "note": "a", "synced": at(1)}])
    assert {ORDERS: "success"} == statuses(made.run())
    return made


def test_a_new_column_and_a_wider_type_come_with_the_next_rows(tmp_path):
    project = LakeProject(tmp_path)
    narrow = pa.schema([("id", pa.int32()), ("synced", pa.timestamp("us", "UTC"))])
    project.put([{"id": 1, "synced": at(1)}], types=narrow)
    project.run()
    project.put([{"id": 2**40, "new": "x", "synced": at(2)}], file="part-1.parquet")
    report = project.run()

    assert ["id widen", "new add"] == sorted(drift(report))
    assert [
        {"id": 1, "synced": at(1), "new": None},
        {"id": 2**40, "synced": at(2), "new": "x"},
    ] == project.rows()


def test_a_dropped_column_is_null_then_gone_and_its_old_values_stay_until_then(project):
    project.put([{"id": 1, "synced": at(1)}])
    project.put([{"id": 2, "synced": at(2)}], file="part-1.parquet")
    first = project.run()
    rows = project.rows()
    second, third, last = project.run(), project.run(), project.run()
    calm = project.run()

    assert ["note grace 3"] == drift(first)
    assert [
        {"id": 1, "note": "a", "synced": at(1)},
        {"id": 2, "note": None, "synced": at(2)},
    ] == rows
    assert [["note grace 2"], ["note grace 1"]] == [drift(second), drift(third)]
    assert ["note replace 0"] == drift(last)
    assert [{"id": 1, "synced": at(1)}, {"id": 2, "synced": at(2)}] == project.rows()
    assert [] == drift(calm)
    assert [] == notices(project)


def test_a_column_that_reappears_ends_its_notice_and_nothing_is_replaced(project):
    project.put([{"id": 2, "synced": at(2)}])
    project.run()
    on_notice = notices(project)
    project.put([{"id": 3, "note": "c", "synced": at(3)}])
    back = project.run()

    assert ["note dropped"] == on_notice
    assert ["note ignore"] == drift(back)
    assert [] == notices(project)
    assert [
        {"id": 1, "note": "a", "synced": at(1)},
        {"id": 2, "note": None, "synced": at(2)},
        {"id": 3, "note": "c", "synced": at(3)},
    ] == project.rows()


def test_a_retyped_column_keeps_its_type_with_null_for_what_does_not_fit(project):
    project.put(
        [
            {"id": "2", "note": "b", "synced": at(2)},
            {"id": "two", "note": "b", "synced": at(2)},
        ]
    )
    first = project.run()
    kept = project.rows()
    for _ in range(2):
        project.run()
    last = project.run()

    assert ["id grace 3"] == drift(first)
    assert [1, 2, None] == sorted((row["id"] for row in kept), key=lambda each: each or 9)
    assert ["id replace 0"] == drift(last)
    assert ["2", "two"] == sorted(row["id"] for row in project.rows())


def test_a_timestamp_that_is_gone_fails_its_table_and_nothing_is_changed(project):
    before = project.rows()
    project.put([{"id": 2, "note": "b"}])
    report = project.run()

    assert {ORDERS: "failed"} == statuses(report)
    assert before == project.rows()


def test_a_merged_copy_takes_late_rows_and_widens_and_fills_as_others_do(tmp_path):
    project = LakeProject(tmp_path, 'strategy = "merge"\nmerge_keys = ["id"]')
    project.put([{"id": 1, "n": 1, "note": "a"}, {"id": 2, "n": 2, "note": "b"}])
    first = project.run()
    project.put([{"id": 1, "n": 4.0}, {"id": 2, "n": 2.0}, {"id": 9, "n": 9.0}])
    second = project.run()

    assert [{ORDERS: "success"}] * 2 == [statuses(first), statuses(second)]
    assert ["n grace 7", "note grace 7"] == sorted(drift(second))
    # Rows that are there keep what the source no longer has, while it is on notice.
    assert [
        {"id": 1, "n": 4, "note": "a"},
        {"id": 2, "n": 2, "note": "b"},
        {"id": 9, "n": 9, "note": None},
    ] == project.rows()
