"""Histories of a folder, made up at random: its table always has the rows of each file once."""

from random import Random
from unittest import mock

import pytest

from rocky.ledger.writer import Ledger
from tests.pipelines.loads.folders import ORDERS, LoadProject
from tests.run.runs import verify

FILES = ("a.csv", "b.csv", "deeper/c.csv")


class Died(BaseException):
    """The end of a process."""


class History:
    """A folder, its table, and the table's rows by hand."""

    def __init__(self, project: LoadProject, chance: Random) -> None:
        self.project = project
        self.chance = chance
        self.folder: dict[str, int] = {}
        self.held: set[int] = set()
        self.made = 0

    def put(self) -> None:
        """A new file, or one that was there before, under some name."""
        if not self.made or self.chance.random() < 0.7:
            self.made += 1
            number = self.made
        else:
            number = self.chance.randint(1, self.made)
        name = self.chance.choice(FILES)
        self.project.put_text(name, f"id\n{number}\n")
        self.folder[name] = number

    def remove(self) -> None:
        if self.folder:
            name = self.chance.choice(sorted(self.folder))
            del self.folder[name]
            (self.project.root / "in" / name).unlink()

    def run(self) -> None:
        self._go()

    def refresh(self) -> None:
        self._go(full_refresh=True)

    def die(self) -> None:
        """A run that commits and cannot record."""
        full_refresh = self.chance.random() < 0.3
        with mock.patch.object(Ledger, "record_models", side_effect=Died):
            try:
                self._go(full_refresh=full_refresh)
            except Died:
                self._count(full_refresh=full_refresh)

    def _go(self, *, full_refresh: bool = False) -> None:
        self.project.run(full_refresh=full_refresh)
        self._count(full_refresh=full_refresh)

    def _count(self, *, full_refresh: bool) -> None:
        wanted = set(self.folder.values())
        if full_refresh and wanted:
            self.held = wanted
        self.held |= wanted


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(4))
def test_a_table_has_each_file_once_whatever_happens(tmp_path, seed):
    history = History(LoadProject(tmp_path), Random(seed))
    steps = (history.put, history.put, history.run, history.die, history.remove, history.refresh)

    for _ in range(14):
        history.chance.choice(steps)()
        if history.held:
            assert sorted(history.held) == history.project.ids(ORDERS)
    history.run()

    assert [] == verify(tmp_path)
