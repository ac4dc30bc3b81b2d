"""Tables of pipelines in a bucket: runs read them there, and a compile does not ask."""

from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from rocky.operations.check.compile import CompileRequest, compile_models
from rocky.operations.execution.run import run
from rocky.operations.sources.discover import DiscoverRequest, discover
from rocky.operations.workspace import Workspace, compile_workspace
from rocky.plan.request import RunRequest
from rocky.run.engine import spark
from tests.pipelines.lakes import ORDERS, LakeProject, at
from tests.run.memory_engine import MemoryEngine
from tests.run.runs import write
from tests.store.test_s3 import options

__all__ = ["options"]
pytestmark = [pytest.mark.slow, pytest.mark.server]


@pytest.fixture
def lake(tmp_path, monkeypatch, options) -> LakeProject:
    @contextmanager
    def open_memory(adapter, root, spark=None, functions=None) -> Iterator[MemoryEngine]:
        yield MemoryEngine(root)

    monkeypatch.setattr(spark, "open_project_engine", open_memory)
    made = LakeProject(tmp_path)
    made.reconfigure("[adapter]\n", '[adapter]\nwarehouse = "s3://lake/of pipelines"\n')
    made.put([{"id": 1, "amount": 2.5, "synced": at(1)}])
    write(tmp_path, {"models/by_day.sql": f"SELECT id, amount FROM {ORDERS}"})
    return made


def types_of(workspace: Workspace) -> list[str]:
    columns = compile_workspace(workspace, discovered=True).models["by_day"].columns
    return [str(each.type) for each in columns]


def test_readers_are_built_and_reused_by_what_lies_in_the_bucket(lake, options):
    workspace = Workspace(lake.root, environment=options)
    first, again = (run(workspace, RunRequest()) for _ in range(2))
    lake.put([{"id": 2, "amount": 1.0, "synced": at(2)}], file="part-1.parquet")
    changed = run(workspace, RunRequest())

    assert [["build"], ["reuse"], ["build"]] == [
        [each.execution.decision for each in report.pipelines[-1].ending.result.outcomes]
        for report in (first, again, changed)
    ]


def test_a_compile_asks_no_bucket_and_takes_what_was_kept(lake, options):
    online = Workspace(lake.root, environment=options)
    run(online, RunRequest())
    # Nobody answers there: whoever asks would wait and fail.
    offline = Workspace(lake.root, environment={"AWS_ENDPOINT_URL": "http://127.0.0.1:9"})
    before = types_of(offline)
    said = compile_models(offline, CompileRequest()).summary.unknown_tables
    discover(online, DiscoverRequest(pipeline="bronze", cache=True))

    assert [(ORDERS, "bronze", True)] == [(x.name, x.pipeline, x.is_remote) for x in said]
    assert (["unknown", "unknown"], ["bigint", "double"]) == (before, types_of(offline))
    summary = compile_models(offline, CompileRequest()).summary
    assert [ORDERS] == [each.name for each in summary.cached_tables]


def test_columns_of_tables_in_a_bucket_are_kept_as_they_lie_there(lake, options):
    workspace = Workspace(lake.root, environment=options)
    run(workspace, RunRequest())
    (lake.root / "lake").rename(lake.root / "gone")
    write(lake.root, {f"lake/five/src__acme__shopify/orders/{name}": "" for name in ("a.parquet",)})
    report = discover(workspace, DiscoverRequest((ORDERS,), cache=True))

    assert [("table", "files", "bronze")] == [
        (each.status, each.asked, each.pipeline) for each in report.sources
    ]
    offline = Workspace(lake.root, environment={"AWS_ENDPOINT_URL": "http://127.0.0.1:9"})
    assert ["bigint", "double"] == types_of(offline)
