"""What a run that builds nothing asks of a ledger, however long its history is."""

import sqlite3
from itertools import pairwise

import pytest

from rocky.ledger import database
from rocky.ledger.readers import commits
from tests.run.long_histories import LongHistory
from tests.run.runs import verify


class Watched:
    """Counts the connections to ledgers, and the steps that SQLite takes on all of them."""

    def __init__(self, monkeypatch) -> None:
        self.opened = self.steps = 0
        connect = database._connect

        def watched(*arguments) -> sqlite3.Connection:
            connection = connect(*arguments)
            connection.set_progress_handler(self._step, 20)
            self.opened += 1
            return connection

        monkeypatch.setattr(database, "_connect", watched)

    def _step(self) -> int:
        self.steps += 1
        return 0

    def of(self, work) -> tuple[int, int]:
        """Connections and steps that a piece of work takes."""
        before = self.opened, self.steps
        work()
        return self.opened - before[0], self.steps - before[1]


@pytest.fixture
def past(tmp_path) -> LongHistory:
    return LongHistory(tmp_path, builds=1)


@pytest.mark.slow
def test_a_run_that_builds_nothing_asks_no_more_of_a_long_history_than_of_a_short_one(
    past, monkeypatch
):
    past.grow(10)
    watched = Watched(monkeypatch)
    _, few = watched.of(past.idle)
    past.grow(200)
    _, many = watched.of(past.idle)

    # Some indexes are a page deeper.
    assert many < few * 1.2
    assert [] == verify(past.shop.root)


@pytest.mark.slow
def test_a_run_that_builds_nothing_opens_the_ledger_as_often_for_many_models_as_for_few(
    tmp_path, monkeypatch
):
    def opened(models: int) -> int:
        names = ["by_country", *(f"more_{number}" for number in range(models))]
        files = {
            f"models/{name}.sql": f"SELECT max(n) AS n FROM {upstream}"
            for upstream, name in pairwise(names)
        }
        past = LongHistory(tmp_path / str(models), files)
        past.grow(2)
        return watched.of(past.idle)[0]

    watched = Watched(monkeypatch)

    assert opened(1) == opened(12)


@pytest.mark.slow
def test_a_history_that_was_written_in_bulk_is_one_that_runs_could_have_written(past):
    past.grow(60)

    assert [] == verify(past.shop.root)
    assert 60 <= len(past.shop.records())


def test_names_are_compared_as_sqlite_compares_them():
    with sqlite3.connect(":memory:") as file:
        said = file.execute("SELECT lower('Shop.Größe.ÄRGER')").fetchone()[0]

    assert said == commits._lower("Shop.Größe.ÄRGER")
