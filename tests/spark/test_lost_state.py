"""A state that was lost, on Spark: an incremental table keeps rows that its source has pruned."""

from pathlib import Path

import deltalake
import pytest

import rocky
from tests.run.runs import verify
from tests.spark.projects import table_folder, write_files

pytestmark = pytest.mark.spark

FILES = {
    "sources/raw.toml": (
        '[[source]]\nname = "raw.visits"\nformat = "csv"\npath = "data/visits.csv"\n'
        'options = { header = "true" }\ncolumns = [ { name = "id", type = "bigint" },'
        ' { name = "seen", type = "timestamp", nullable = false } ]\n'
    ),
    "models/visits.sql": "SELECT id, seen FROM raw.visits\n",
    "models/visits.toml": '[strategy]\ntype = "incremental"\ntimestamp_column = "seen"\n',
    "models/daily.sql": (
        "SELECT id, seen FROM raw.visits WHERE seen >= @start_date AND seen < @end_date\n"
    ),
    "models/daily.toml": (
        '[strategy]\ntype = "time_interval"\ntime_column = "seen"\ngranularity = "day"\n'
        'first_partition = "2026-01-01"\n'
    ),
}


def visits(root: Path, *days: int) -> None:
    lines = "".join(f"{each},2026-01-{each:02} 00:00:00\n" for each in days)
    (root / "data").mkdir(exist_ok=True)
    (root / "data/visits.csv").write_text(f"id,seen\n{lines}")


def ids(root: Path, table: str) -> list[int]:
    rows = deltalake.DeltaTable(str(table_folder(root, table))).to_pyarrow_table()
    return sorted(rows.column("id").to_pylist())


def test_rows_that_the_source_has_pruned_outlive_the_state(spark, tmp_path):
    root = write_files(tmp_path, FILES)
    shop = rocky.open(root, spark=spark)
    visits(root, 1, 2)
    window = rocky.Window("2026-01-01", "2026-01-02")
    assert shop.run(window=window).succeeded
    for path in root.glob(".rocky-state.db*"):
        if path.is_file():
            path.unlink()
    visits(root, 3)

    with pytest.raises(rocky.RockyError, match="which the state does not have"):
        shop.run("visits")
    report = shop.restore_state(message="the disk is gone")
    assert shop.run(window=rocky.Window(partition="2026-01-03")).succeeded

    found = {each.model_name: each for each in report.tables}
    assert "2026-01-02T00:00:00Z" == found["visits"].watermark
    assert 2 == found["daily"].time_intervals
    assert [1, 2, 3] == ids(root, "visits") == ids(root, "daily")
    kept = [each.partition_key for each in shop.state().partitions]
    assert ["2026-01-01", "2026-01-02", "2026-01-03"] == kept
    assert [] == verify(root)
