"""Pipelines from Python."""

from contextlib import contextmanager

import pytest

import rocky
from rocky.errors import NothingSelected, RunRefused, RunSkipped
from rocky.run.engine import spark
from tests.pipelines.lakes import ORDERS, LakeProject, at
from tests.run.memory_engine import MemoryEngine


@pytest.fixture
def lake(tmp_path, monkeypatch):
    @contextmanager
    def open_memory(adapter, root, spark=None):
        yield MemoryEngine(root)

    monkeypatch.setattr(spark, "open_project_engine", open_memory)
    made = LakeProject(tmp_path)
    made.put([{"id": 1, "synced": at(1)}])
    return made


def test_a_pipeline_is_run_and_what_is_unchanged_is_named(lake):
    first = rocky.run_pipeline(rocky.load_project(lake.root), "bronze", env={})
    second = rocky.run_pipeline(rocky.load_project(lake.root), "bronze", env={})

    assert [ORDERS] == [each.step.name for each in first.run.outcomes]
    assert (ORDERS,) == second.run.unchanged
    assert [1] == [row["id"] for row in lake.rows()]


def test_what_cannot_be_run_is_refused(lake):
    project = rocky.load_project(lake.root)

    with pytest.raises(NothingSelected, match="no pipeline `brnze`"):
        rocky.run_pipeline(project, "brnze", env={})

    config = lake.root / "rocky.toml"
    config.write_text(config.read_text() + "\nnonsense = 1\n")
    with pytest.raises(RunRefused, match="nonsense"):
        rocky.run_pipeline(rocky.load_project(lake.root), "bronze", env={})


def test_a_key_that_was_used_is_told(lake):
    project = rocky.load_project(lake.root)
    rocky.run_pipeline(project, "bronze", idempotency_key="k", env={})

    with pytest.raises(RunSkipped, match="`k`"):
        rocky.run_pipeline(project, "bronze", idempotency_key="k", env={})
