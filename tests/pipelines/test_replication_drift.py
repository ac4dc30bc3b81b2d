"""Drift in a replication: what the source did to its columns, and what that does to the copy."""

from pathlib import Path

import pyarrow as pa
import pytest

from rocky.ledger.readers.commits import open_lookup_reader
from tests.pipelines.lakes import ORDERS, LakeProject, at, statuses
from tests.run.runs import verify, write

pytestmark = pytest.mark.slow

SOURCE = f"""
[[source]]
name = "bronze.orders"
format = "delta"
path = "warehouse/{ORDERS.replace(".", "/")}"
columns = [ {{ name = "id", type = "bigint" }}, {{ name = "note", type = "string" }} ]
"""


def order(number: int, day: int, **more: object) -> dict[str, object]:
    return {"id": number, "synced": at(day), **more}


@pytest.fixture
def lake(tmp_path: Path) -> LakeProject:
    made = LakeProject(tmp_path, more="[schema_evolution]\ngrace_period_days = 3\n")
    made.put([order(1, 1, note="a"), order(2, 2, note="b")])
    made.run()
    return made


def drift(report) -> list[tuple[str, str]]:
    records = report.run.outcomes[0].execution.drift
    return [(each.column, each.grade) for each in records]


def columns(lake: LakeProject) -> dict[str, str]:
    return {field.name: field.type.text for field in lake.snapshot().schema}


def on_notice(lake: LakeProject) -> list[str]:
    lookups = open_lookup_reader(lake.state)
    assert lookups is not None
    with lookups:
        return [each.column for each in lookups.grace_periods()]


def test_a_new_column_is_added_and_rows_before_have_null_in_it(lake):
    lake.put([order(3, 3, note="c", extra=7)], file="part-1.parquet")

    report = lake.run()

    assert [("extra", "add")] == drift(report)
    assert {1: None, 2: None, 3: 7} == {row["id"]: row["extra"] for row in lake.rows()}
    assert "appended" == report.run.outcomes[0].execution.action


def test_a_wider_column_widens_the_copy_and_keeps_every_row(tmp_path):
    lake = LakeProject(tmp_path)
    narrow = pa.schema(
        [("id", pa.int64()), ("synced", pa.timestamp("us", "UTC")), ("n", pa.int32())]
    )
    lake.put([order(1, 1, n=7)], types=narrow)
    lake.run()
    wide = pa.schema([("id", pa.int64()), ("synced", pa.timestamp("us", "UTC")), ("n", pa.int64())])
    lake.put([order(1, 1, n=7), order(2, 2, n=2**40)], types=wide)

    report = lake.run()

    assert [("n", "widen")] == drift(report)
    assert "bigint" == columns(lake)["n"]
    assert [7, 2**40] == [row["n"] for row in lake.rows()]
    assert [] == verify(lake.root)


def test_a_dropped_column_stays_with_nulls_until_its_grace_period_ends(lake):
    lake.put([order(1, 1), order(2, 2), order(3, 3)])

    report = lake.run()

    assert [("note", "grace")] == drift(report)
    assert 3 == report.run.outcomes[0].execution.drift[0].days_left
    assert ["a", "b", None] == [row["note"] for row in lake.rows()]
    assert ["note"] == on_notice(lake)
    assert any("note" in warning for warning in report.run.warnings)


def test_a_column_whose_grace_period_is_over_goes_with_one_commit_that_replaces_the_table(lake):
    lake.put([order(1, 1), order(2, 2), order(3, 3)])
    for _ in range(3):
        lake.run()
    before = lake.snapshot().version

    report = lake.run()

    assert [("note", "replace")] == drift(report)
    assert before + 1 == lake.snapshot().version
    assert {"id", "synced"} == set(columns(lake))
    assert [1, 2, 3] == [row["id"] for row in lake.rows()]
    assert [] == on_notice(lake)
    assert [] == verify(lake.root)


def test_a_column_that_comes_back_is_no_longer_on_notice(lake):
    lake.put([order(1, 1), order(2, 2), order(3, 3)])
    lake.run()
    lake.put([order(4, 4, note="d")])

    lake.run()

    assert [] == on_notice(lake)
    assert "d" in [row["note"] for row in lake.rows()]
    assert [] == verify(lake.root)


def test_a_replacement_that_fails_leaves_the_table_as_it_was(lake):
    lake.put([order(1, 1), order(2, 2), order(3, 3)])
    for _ in range(3):
        lake.run()
    before = lake.rows()

    def refuse(table: str) -> None:
        raise OSError(28, "no space left on device")

    report = lake.run(before_write=refuse)

    assert {ORDERS: "failed"} == statuses(report)
    assert before == lake.rows()
    assert ["note"] == on_notice(lake)


def test_drift_names_the_columns_downstream_that_it_reaches(lake):
    write(
        lake.root,
        {
            "sources/bronze.toml": SOURCE,
            "models/notes.sql": "SELECT upper(note) AS shouted FROM bronze.orders",
        },
    )
    config = lake.root / "rocky.toml"
    config.write_text(config.read_text() + '\n[pipeline.silver]\nmodels = "models/**"\n')
    lake.put([order(1, 1), order(2, 2), order(3, 3)])

    report = lake.run()

    assert ("notes.shouted",) == report.run.outcomes[0].execution.drift[0].reaches


def test_types_that_do_not_fit_keep_the_old_type_until_the_period_ends(lake):
    lake.put([order(3, 3, note=5)])

    report = lake.run()

    assert [("note", "grace")] == drift(report)
    assert "string" == columns(lake)["note"]
