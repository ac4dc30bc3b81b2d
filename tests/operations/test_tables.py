"""Seeds, tests, rows and drift from Python: what is refused, and what the reports say."""

import pytest

from rocky.errors import NothingSelected
from rocky.operations.execution import test as operation
from rocky.operations.execution.run import run
from rocky.operations.execution.seed import SeedRequest, seed
from rocky.operations.findings import ErrorsFound
from rocky.operations.rows.show import ShowRequest, show
from rocky.operations.sources.drift import DriftRequest, drift
from rocky.operations.workspace import Workspace
from rocky.plan.request import RunRequest
from tests.pipelines.lakes import ORDERS, LakeProject, at


def test_a_seed_is_loaded_once(shop):
    first = seed(shop.workspace, SeedRequest())
    again = seed(shop.workspace, SeedRequest(("countries",)))

    assert [("countries", "loaded", 2)] == [
        (each.name, each.status, each.rows) for each in first.seeds
    ]
    assert (1, 0) == (first.summary.loaded, first.exit_code)
    assert (None, 1, 0) == (again.run_id, again.summary.unchanged, again.exit_code)
    assert 1 == len(shop.records())


def test_a_seed_is_shown_where_it_was_loaded(shop):
    shop.write(
        "rocky.toml",
        '[adapter.a]\nwarehouse = "a"\n[adapter.b]\nwarehouse = "b"\n'
        '[pipeline.shop]\nmodels = "models/**"\ntarget = { adapter = "b" }\n',
    )
    seed(shop.workspace, SeedRequest())

    assert 2 == len(show(shop.workspace, ShowRequest("countries")).rows)


def test_a_seed_with_errors_is_not_loaded(shop):
    shop.write("seeds/countries.csv", "code,label\n1\n")

    with pytest.raises(ErrorsFound, match="1 error: nothing was loaded"):
        seed(shop.workspace, SeedRequest())

    assert () == shop.records()


def test_no_branch_that_was_never_made_is_seeded(shop):
    with pytest.raises(NothingSelected, match="no branch `feature`"):
        seed(shop.on(branch_name="feature"), SeedRequest())


def test_rows_come_as_json_has_them_and_as_python_has_them(shop):
    report = run(shop.workspace, RunRequest(("stg_orders",)))
    found = show(shop.workspace, ShowRequest("stg_orders", limit=1))

    assert report.run is not None
    assert (({"id": 1, "country": "DE"},), ((1, "DE"),)) == (found.rows, found.values)
    assert (3, 0, ["id", "country"]) == (
        found.row_count,
        found.table_version,
        [each.name for each in found.columns],
    )


def test_nothing_is_tested_unless_it_compiles(shop):
    shop.write("models/alone.sql", "SELECT nope FROM nowhere")

    with pytest.raises(ErrorsFound, match="1 error: nothing was tested"):
        operation.test(shop.workspace, operation.TestRequest(("alone",)))
    found = operation.test(shop.workspace, operation.TestRequest(("report",)))

    assert (True, 1, ()) == (found.passed, found.selected, found.unit_tests)
    assert [] == shop.sessions


@pytest.mark.slow
def test_drift_says_how_a_source_differs_from_its_copy(shop, tmp_path):
    root = tmp_path / "lake"
    lake, workspace = LakeProject(root), Workspace(root)
    lake.put([{"id": 1, "synced": at(1)}])
    run(workspace, RunRequest())
    lake.put([{"id": 2, "synced": at(2), "extra": "x"}])

    found = drift(workspace, DriftRequest()).pipelines["bronze"]

    assert [(ORDERS, "extra", "add")] == [
        (each.table, each.record.column, each.record.grade) for each in found.actions
    ]
    with pytest.raises(NothingSelected, match="no pipeline `silver` that copies tables"):
        drift(workspace, DriftRequest("silver"))
