"""A commit that no run made does not keep a file from being loaded."""

import json

import pytest
from blake3 import blake3

from rocky.pipelines.loads.load_run import LoadModels
from tests.pipelines.loads.folders import LoadProject, errors


@pytest.fixture
def planted(tmp_path):
    """A project with a file to load, and a commit that says it was loaded."""
    project = LoadProject(tmp_path)
    project.put_text("a.csv", "id,v\n1,1\n")
    project.run()
    new = project.put_text("b.csv", "id,v\n2,2\n3,3\n")
    digest = blake3(new.read_bytes()).hexdigest()
    info = {"timestamp": 1, "operation": "WRITE", "loadedFiles": json.dumps([digest])}
    commit = tmp_path / f"warehouse/raw/files/orders/_delta_log/{1:020d}.json"
    commit.write_text(json.dumps({"commitInfo": info}) + "\n")
    return project, commit


def test_a_planted_commit_that_stays_refuses_the_load(planted):
    project, _ = planted

    report = project.run()

    assert "has a commit that no run made, version 1" in str(errors(report))
    assert [1] == project.ids()


@pytest.mark.slow
def test_a_planted_commit_that_is_gone_when_the_table_is_written_hides_no_file(
    planted, monkeypatch
):
    project, commit = planted
    load = LoadModels.load

    def load_and_remove(self, wanted):
        made = load(self, wanted)
        commit.unlink(missing_ok=True)
        return made

    monkeypatch.setattr(LoadModels, "load", load_and_remove)
    project.run()
    monkeypatch.undo()
    project.run()

    assert [1, 2, 3] == project.ids()
