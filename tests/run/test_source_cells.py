"""The cell that Spark could not read, found in the file; nothing is said where that is not sure."""

from dataclasses import replace
from pathlib import Path

import pytest

from rocky.project import load_project
from rocky.project.sources import SourceTable
from rocky.run.engine.source_cells import find_unfit_cell
from rocky.spark.interface import Failure, FailureKind
from tests.run.runs import PROJECT, write

SOURCE = """
[[source]]
name = "raw.cells"
format = "csv"
path = "data/cells.csv"
columns = [ { name = "id", type = "bigint" }, { name = "day", type = "date" } ]
"""


def source_of(root: Path, cells: str) -> SourceTable:
    write(root, {**PROJECT, "sources/cells.toml": SOURCE, "data/cells.csv": cells})
    return load_project(root, env={}).sources["raw.cells"]


def failure_of(root: Path, said: str, scheme: str = "file://") -> Failure:
    place = f"{scheme}{root}/data/cells.csv"
    message = f"Encountered error while reading file {place}. {said}"
    return Failure(FailureKind.CORRUPT_FILE, message)


@pytest.mark.parametrize(
    ("cells", "said", "place"),
    [
        ("id,day\n1,2026-01-01\nx,2026-01-02\n", 'For input string: "x"', "3:1"),
        ('id,day\n"1","2026-01-01"\n2,later\n', "cannot parse later", "3:3"),
        ("id,day\n1,later\n", "something else", None),
        ("id,day\n1,2026-01-01\n", "later", None),
    ],
)
def test_a_cell_is_found_where_it_is_unfit_and_spark_tells_it(tmp_path, cells, said, place):
    source = source_of(tmp_path, cells)

    found = find_unfit_cell(failure_of(tmp_path, said), source, tmp_path)

    assert (None if place is None else f"data/cells.csv:{place}") == (found and found.place)


def test_other_options_places_and_formats_are_left_alone(tmp_path):
    source = source_of(tmp_path, "id;day\nx;2026-01-01\n")
    failure = failure_of(tmp_path, "x")

    assert find_unfit_cell(failure, replace(source, options={"quote": "'"}), tmp_path) is None
    assert find_unfit_cell(failure_of(tmp_path, "x", "s3a:/"), source, tmp_path) is None
    assert find_unfit_cell(failure, replace(source, format="json"), tmp_path) is None
    found = find_unfit_cell(failure, replace(source, options={"sep": ";"}), tmp_path)
    assert found is not None
    assert "data/cells.csv:2:1" == found.place
