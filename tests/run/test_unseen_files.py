"""A file of a source that this machine has and the executors of a cluster have not."""

import pytest

from rocky.project import load_project
from rocky.run.engine.findings import diagnose_source
from rocky.spark.failures import as_unseen, classify_failure
from tests.spark.projects import write_files

SOURCE = """\
[[source]]
name = "raw.orders"
format = "csv"
path = "data/orders.csv"
columns = [ { name = "id", type = "bigint"%s } ]
"""


@pytest.mark.parametrize("tag", ["", ', classification = "pii"'])
def test_it_is_told_as_that_and_not_as_data_that_is_wrong(tmp_path, tag):
    write_files(tmp_path, {"sources/raw.toml": SOURCE % tag, "data/orders.csv": "id\n1\n"})
    project = load_project(tmp_path, env={})
    path = tmp_path / "data/orders.csv"
    failure = classify_failure(
        RuntimeError(f"[FAILED_READ_FILE.FILE_NOT_EXIST] while reading file file://{path}. File is")
    )

    found = diagnose_source(as_unseen(failure), project.sources.values(), tmp_path)

    assert found is not None
    assert found.message.startswith(
        "source `raw.orders` cannot be read: `data/orders.csv` is there on this machine, and"
        " Spark's executors do not find it"
    )
    assert found.help == (
        "put the files where every machine of the cluster has them, and declare that path"
    )
