"""A Spark that ends in mid-run: what was built is recorded, nothing more is started, all is told."""

import pytest

from rocky.ledger.run_records import RunStatus
from rocky.run.engine.protocol import EngineEnd
from rocky.run.prepare.resources import RunParameters
from tests.run.memory_engine import MemoryEngine
from tests.run.runs import Shop, statuses, verify

MODELS = {
    "models/a.sql": "SELECT 1 AS id\n",
    "models/b.sql": "SELECT id FROM a\n",
    "models/c.sql": "SELECT id FROM b\n",
    "models/z.sql": "SELECT id + 1 AS id FROM a\n",
}
END = EngineEnd("Spark's process was killed (SIGKILL)", "look who did", ("the last line",))


class Mortal:
    """An engine that is gone once the table of one model is to be written."""

    def __init__(self, patch: pytest.MonkeyPatch, table: str) -> None:
        self.table, self.dead = table, False
        patch.setattr(MemoryEngine, "end", property(lambda _: END if self.dead else None))

    def __call__(self, table: str) -> None:
        self.dead = self.dead or table.endswith(self.table)
        if self.dead:
            raise ConnectionRefusedError(111, "Connection refused")


@pytest.fixture
def shop(tmp_path) -> Shop:
    made = Shop(tmp_path)
    for path in (tmp_path / "models").glob("*"):
        path.unlink()
    for name, text in MODELS.items():
        made.write(name, text)
    return made


@pytest.mark.slow
def test_what_was_built_is_recorded_and_nothing_more_is_started(shop, monkeypatch):
    report = shop.run("a", "b", "c", "z", before_write=Mortal(monkeypatch, ".b"))
    (record,) = shop.records()
    errors = {each.step.name: each.execution.error for each in report.outcomes}

    assert {"a": "success", "b": "failed", "c": "skipped", "z": "failed"} == statuses(report)
    assert "not started: Spark had ended" == errors["z"]
    assert (RunStatus.PARTIAL_FAILURE, 2) == (report.status, report.exit_code)
    assert (END.message, ("b",)) == (report.engine_end.message, report.engine_end.building)
    assert END.message == record.reason
    assert 4 == len(record.models_executed)
    assert [(1,)] == shop.rows("a")
    assert [] == verify(shop.root)


@pytest.mark.slow
def test_the_next_run_finishes_the_work(shop, monkeypatch):
    with monkeypatch.context() as patch:
        shop.run("a", "b", "c", "z", before_write=Mortal(patch, ".b"))
    report = shop.run("a", "b", "c", "z")

    assert {"a": "skipped", "b": "success", "c": "success", "z": "success"} == statuses(report)
    assert None is report.engine_end


def test_all_models_that_were_being_built_are_named(shop, monkeypatch):
    mortal = Mortal(monkeypatch, ".a")
    report = shop.run("a", "b", before_write=mortal, options=RunParameters(parallel=2))

    assert (RunStatus.FAILURE, 1) == (report.status, report.exit_code)
    assert "a" in report.engine_end.building


def test_a_lost_connection_to_a_spark_that_lives_stops_nothing(shop):
    def lose(table: str) -> None:
        if table.endswith(".b"):
            raise ConnectionRefusedError(111, "Connection refused")

    report = shop.run("a", "b", "c", "z", before_write=lose)

    assert {"a": "success", "b": "failed", "c": "skipped", "z": "success"} == statuses(report)
    assert None is report.engine_end
