"""Copies and loads whose state was lost: refused, and gone on with from what the tables say."""

import pytest

from rocky.errors import StateLost
from rocky.operations.execution.run import run
from rocky.operations.state.state_restoration import (
    RestorationRequest,
    TableRestoration,
    restore_state,
)
from rocky.operations.workspace import Workspace
from rocky.plan.request import RunRequest
from tests.operations.shops import OpenShop
from tests.pipelines.lakes import ORDERS, LakeProject, at
from tests.pipelines.loads.folders import ORDERS as LOADED
from tests.pipelines.loads.folders import LoadProject
from tests.run.runs import verify

pytestmark = pytest.mark.slow

WHY = "the disk of the runner is gone"


@pytest.fixture
def work(tmp_path, monkeypatch) -> Workspace:
    OpenShop(tmp_path / "nobody", monkeypatch)
    return Workspace(tmp_path / "lake", spark="a session")


def lose(lake: LakeProject) -> None:
    for path in lake.root.glob(".rocky-state.db*"):
        if path.is_file():
            path.unlink()


def restored(work: Workspace, target: str) -> TableRestoration:
    (found,) = (
        each
        for each in restore_state(work, RestorationRequest(WHY)).tables
        if each.target == target
    )
    return found


def order(number: int) -> dict[str, object]:
    return {"id": number, "synced": at(number)}


def test_a_copy_whose_state_is_lost_is_refused_before_a_state_is_begun(work):
    lake = LakeProject(work.config)
    lake.put([order(1), order(2)])
    assert run(work, RunRequest()).succeeded
    lose(lake)

    with pytest.raises(StateLost, match=f"`{ORDERS}` was written by run"):
        run(work, RunRequest())

    assert not lake.state.exists()
    assert [1, 2] == [row["id"] for row in lake.rows()]


def test_a_copy_of_before_its_commits_named_the_pipeline_is_refused_too(work):
    lake = LakeProject(work.config)
    lake.put([order(1), order(2)])
    assert run(work, RunRequest()).succeeded
    lose(lake)
    log = lake.root / f"warehouse/{ORDERS.replace('.', '/')}/_delta_log/{0:020d}.json"
    text = log.read_text()
    assert '"pipeline":"bronze",' in text
    log.write_text(text.replace('"pipeline":"bronze",', ""))

    with pytest.raises(StateLost, match=f"`{ORDERS}` was written by run"):
        run(work, RunRequest())


def test_a_copy_goes_on_from_the_watermark_of_its_table(work):
    lake = LakeProject(work.config)
    file = lake.put([order(1), order(2)])
    assert run(work, RunRequest()).succeeded
    lose(lake)
    file.unlink()
    lake.put([order(3)], file="part-1.parquet")

    found = restored(work, ORDERS)

    assert (None, (0,)) == (found.note, found.versions)
    assert run(work, RunRequest()).succeeded
    assert [1, 2, 3] == [row["id"] for row in lake.rows()]
    assert [] == verify(lake.root)


def test_a_copy_of_before_its_commits_named_the_source_is_gone_on_with_and_that_is_said(work):
    lake = LakeProject(work.config)
    lake.put([order(1), order(2)])
    assert run(work, RunRequest()).succeeded
    lose(lake)
    log = lake.root / f"warehouse/{ORDERS.replace('.', '/')}/_delta_log/{0:020d}.json"
    text = log.read_text()
    assert '"copiedFrom":' in text
    log.write_text(text.replace('"copiedFrom":', '"formerly":'))
    lake.put([order(3)])

    found = restored(work, ORDERS)

    assert "do not name the source that it was copied from" in str(found.note)
    assert run(work, RunRequest()).succeeded
    assert [1, 2, 3] == [row["id"] for row in lake.rows()]


def test_a_load_knows_the_files_that_its_table_names(work):
    folder = LoadProject(work.config)
    folder.put_text("one.csv", "id\n1\n")
    assert run(work, RunRequest()).succeeded
    folder.put_text("two.csv", "id\n2\n")
    assert run(work, RunRequest()).succeeded
    lose(folder)
    folder.put_text("three.csv", "id\n3\n")
    with pytest.raises(StateLost, match=f"`{LOADED}` was written by run"):
        run(work, RunRequest())

    found = restored(work, LOADED)

    assert (2, None) == (found.loaded_files, found.note)
    assert run(work, RunRequest()).succeeded
    assert ["1", "2", "3"] == [str(each) for each in folder.ids()]
    assert [] == verify(folder.root)


def test_a_start_anew_copies_what_the_source_has(work):
    lake = LakeProject(work.config)
    file = lake.put([order(1), order(2)])
    assert run(work, RunRequest()).succeeded
    lose(lake)
    file.unlink()
    lake.put([order(3)], file="part-1.parquet")

    assert run(work, RunRequest(start_anew=True)).succeeded
    assert run(work, RunRequest()).succeeded
    assert [3] == [row["id"] for row in lake.rows()]
