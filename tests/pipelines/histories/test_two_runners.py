"""Two runs of one project at the same time: both end well, or one is refused and says why."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier, Event
from typing import Any

import pytest

from rocky.errors import LedgerLocked
from rocky.evidence.retention.sweep import remove_watermark
from rocky.ledger.record import RunId
from rocky.ledger.writer import open_ledger
from rocky.pipelines.report import PipelineResult
from rocky.run.execute import runner
from tests.pipelines.lakes import ORDERS, LakeProject, at
from tests.run.runs import verify

WAIT_SECONDS = 30


def order(number: int) -> dict[str, object]:
    return {"id": number, "synced": at(number)}


def same(lake: LakeProject) -> LakeProject:
    """The same project as another process has it."""
    other = LakeProject(lake.root)
    other.now = lake.now
    return other


@pytest.fixture
def lake(tmp_path: Path) -> LakeProject:
    made = LakeProject(tmp_path)
    made.put([order(1)])
    made.run()
    made.put([order(2)], file="part-1.parquet")
    return made


def try_run(lake: LakeProject, together: Barrier) -> PipelineResult | LedgerLocked:
    together.wait(WAIT_SECONDS)
    try:
        return lake.run()
    except LedgerLocked as refused:
        return refused


@pytest.mark.slow
@pytest.mark.parametrize("count", [2, 4])
def test_runs_at_the_same_time_copy_every_row_once(lake, count):
    together = Barrier(count)
    runners = [same(lake) for _ in range(count)]

    with ThreadPoolExecutor(count) as pool:
        ended = list(pool.map(lambda each: try_run(each, together), runners))

    refused = [each for each in ended if isinstance(each, LedgerLocked)]
    exits = [each.run.exit_code for each in ended if isinstance(each, PipelineResult)]
    assert [0] * (count - len(refused)) == exits
    assert len(refused) < count
    assert all(f"is writing `{ORDERS}`" in str(each) for each in refused)
    assert [1, 2] == [row["id"] for row in lake.rows()]
    assert [] == verify(lake.root)


@pytest.mark.slow
def test_a_watermark_that_is_deleted_while_a_run_begins_is_not_written_again_by_it(
    lake, monkeypatch
):
    lake.put([order(1), {"id": 9, "synced": at(1)}])
    begin_run = runner.begin_run

    def delete_and_begin(*given: Any) -> RunId:
        with open_ledger(lake.state) as ledger:
            remove_watermark(ledger, ORDERS)
        return begin_run(*given)

    monkeypatch.setattr(runner, "begin_run", delete_and_begin)
    report = lake.run()

    assert "replaced" == report.run.outcomes[0].execution.action
    assert [1, 2, 9] == [row["id"] for row in lake.rows()]


@pytest.mark.slow
def test_a_run_beside_one_that_writes_is_refused_and_changes_nothing(lake):
    writing, go_on = Event(), Event()

    def wait(_table: str) -> None:
        writing.set()
        assert go_on.wait(WAIT_SECONDS)

    first, second = same(lake), same(lake)
    with ThreadPoolExecutor(1) as pool:
        under_way = pool.submit(first.run, before_write=wait)
        try:
            assert writing.wait(WAIT_SECONDS)
            with pytest.raises(LedgerLocked, match=f"is writing `{ORDERS}`"):
                second.run()
        finally:
            go_on.set()
        report = under_way.result(WAIT_SECONDS)

    assert 0 == report.run.exit_code
    assert [1, 2] == [row["id"] for row in lake.rows()]
    assert [] == verify(lake.root)
