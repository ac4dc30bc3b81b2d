"""Snapshot pipelines: what is read, what is refused, and what an unchanged source costs.

Which versions a history holds is the strategy's, and is tested with Spark; here it is a stand-in.
"""

from collections.abc import Callable
from datetime import date
from pathlib import Path

import pyarrow as pa
import pytest
from deltalake import write_deltalake

from rocky.errors import RunRefused
from rocky.project.configuration.strategies import Snapshot
from rocky.run.engine.sql import column_list
from rocky.run.materialize.build import Build, Built
from rocky.run.materialize.workspace import Outcome, commit_replacement, open_workspace
from tests.pipelines.lakes import LakeProject, statuses
from tests.run.runs import verify, write

CONFIG = """
[adapter]
type = "spark"

[pipeline.bronze]
type = "snapshot"
unique_key = ["ID"]
updated_at = "changed"
{settings}
source = {{ catalog = "raw", schema = "crm", table = "customers" }}
target = {{ catalog = "raw", schema = "crm", table = "{table}" }}
{more}
"""
SOURCE = """
[[source]]
name = "raw.crm.customers"
format = "csv"
path = "data/customers.csv"
columns = [ {{ name = "id", type = "bigint" }}, {{ name = "{time}", type = "date" }} ]
"""
HISTORY = "raw.crm.customers_history"
ROWS = "id,changed\n1,2026-05-01\n"


class SnapshotProject(LakeProject):
    """A source and the project that keeps its history."""

    def __init__(
        self,
        root: Path,
        settings: str = "",
        more: str = "",
        *,
        table: str = "customers_history",
        time: str = "changed",
    ) -> None:
        super().__init__(root)
        config = CONFIG.format(settings=settings, more=more, table=table)
        write(root, {"rocky.toml": config, "sources/crm.toml": SOURCE.format(time=time)})
        self.put_rows(ROWS.replace("changed", time))

    def put_rows(self, text: str) -> None:
        write(self.root, {"data/customers.csv": text})


def load_first(build: Build, strategy: Snapshot) -> Built:
    """Every row as the first version of itself."""
    assert ("id",) == strategy.unique_key
    with open_workspace(build) as workspace:
        workspace.bind_source(build.query)
        sql = (
            f"SELECT {column_list(workspace.names)}, changed::TIMESTAMPTZ AS valid_from,"
            " NULL::TIMESTAMPTZ AS valid_to, TRUE AS is_current, 'x' AS snapshot_id"
            f" FROM {workspace.source}"
        )
        before = build.table.snapshot()
        written = workspace.write(sql, build.columns, build.layout, frozenset())
        outcome = Outcome(written.files, written.rows_hash)
        committed = commit_replacement(build, before, build.columns, outcome)
    return Built(build.query or "", (committed,), written.rows, written.rows_hash, "replaced")


@pytest.fixture(autouse=True)
def _no_spark(monkeypatch):
    monkeypatch.setattr("rocky.run.materialize.strategy.snapshot", load_first)


def test_the_history_of_a_declared_source_has_its_columns_and_their_times(tmp_path):
    project = SnapshotProject(tmp_path)

    report = project.run()

    assert {HISTORY: "success"} == statuses(report)
    assert ["id", "changed", "valid_from", "valid_to", "is_current", "snapshot_id"] == [
        each.name for each in project.snapshot(HISTORY).schema
    ]
    assert "snapshot" == report.run.outcomes[0].execution.strategy
    assert [] == verify(tmp_path)


def test_a_source_that_has_not_changed_needs_no_spark(tmp_path):
    project = SnapshotProject(tmp_path)
    project.run()
    project.opened = 0

    report = project.run()

    assert 0 == project.opened
    assert {HISTORY: "reused"} == statuses(report)


@pytest.mark.slow
def test_a_source_that_has_changed_is_looked_at_again(tmp_path):
    project = SnapshotProject(tmp_path)
    project.run()
    project.put_rows(ROWS + "2,2026-05-02\n")

    report = project.run()

    assert {HISTORY: "success"} == statuses(report)
    assert [1, 2] == sorted(row["id"] for row in project.rows(HISTORY))


@pytest.mark.slow
def test_a_table_of_the_warehouse_is_read_where_no_source_is_declared(tmp_path):
    project = SnapshotProject(tmp_path)
    without_source(project)
    rows = pa.table({"id": [1, 2], "changed": [date(2026, 5, 1), date(2026, 5, 2)]})
    write_deltalake(str(tmp_path / "warehouse/raw/crm/customers"), rows)

    first = project.run()
    project.opened = 0
    second = project.run()

    assert [{HISTORY: "success"}, {HISTORY: "reused"}] == [statuses(first), statuses(second)]
    assert 0 == project.opened
    assert [1, 2] == sorted(row["id"] for row in project.rows(HISTORY))


def without_source(project: SnapshotProject) -> None:
    (project.root / "sources/crm.toml").unlink()


def without_time(project: SnapshotProject) -> None:
    write(project.root, {"sources/crm.toml": SOURCE.format(time="seen")})


@pytest.mark.parametrize(
    ("spoil", "said"),
    [
        (without_source, "there is no table `raw.crm.customers` in the warehouse"),
        (without_time, "has no column `changed`, which `updated_at` names"),
    ],
)
def test_a_source_that_is_of_no_use_fails_the_table_without_spark(
    tmp_path, spoil: Callable[[SnapshotProject], None], said: str
):
    project = SnapshotProject(tmp_path)
    spoil(project)

    report = project.run()

    assert {HISTORY: "failed"} == statuses(report)
    assert said in str(report.run.outcomes[0].execution.error)
    assert 0 == project.opened
    assert [] == verify(tmp_path)


def test_a_target_that_a_model_writes_is_refused(tmp_path):
    project = SnapshotProject(tmp_path)
    write(
        tmp_path,
        {
            "models/h.sql": "SELECT 1 AS one",
            "models/h.toml": '[target]\ncatalog = "raw"\nschema = "crm"\n'
            'table = "CUSTOMERS_history"\n',
        },
    )

    report = project.run()

    assert "is written by model `h`" in report.run.outcomes[0].execution.error
    assert 1 == report.run.exit_code
    assert not (tmp_path / "warehouse/raw").exists()


@pytest.mark.parametrize("asked", [{"filters": ("table=x",)}, {"resume": "latest"}])
def test_what_one_table_cannot_heed_is_refused(tmp_path, asked):
    with pytest.raises(RunRefused, match="follows one table"):
        SnapshotProject(tmp_path).run(**asked)


def test_checks_look_at_the_history(tmp_path):
    checks = "[pipeline.bronze.checks]\nenabled = true\nrow_count = true\n"
    project = SnapshotProject(tmp_path, more=checks)

    report = project.run()

    assert report.checks is not None
    assert [("row_count", True)] == [(each.name, each.passed) for each in report.checks.outcomes]
