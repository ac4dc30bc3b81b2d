"""Runs that die: at a chosen effect, before or after it, and nothing of theirs happens afterwards.

An effect is what outlives a process: a transaction of the ledger, an object that is written. What
still runs when a run unwinds finds that it can change nothing any more, as if the process were
gone; the locks it holds go then, as they do with a process.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from unittest.mock import patch

from rocky.errors import ConcurrentChange
from rocky.ledger.ledger_file import LedgerFile
from rocky.ledger.transcript import Transcript
from rocky.run.build import Build, Built
from rocky.run.materialize.table import materialize
from rocky.store.objects import Objects

_WRITING = ("create", "put", "delete", "move")


class Killed(BaseException):
    """The process is gone."""


class Fate:
    """Which effect is the last: the one of this number, itself left out unless `is_done`."""

    def __init__(self, number: int, *, is_done: bool) -> None:
        self._number = number
        self._is_done = is_done
        self._passed = 0
        self.is_over = False

    def before(self) -> None:
        self._passed += 1
        if self._passed == self._number and not self._is_done:
            self.is_over = True
        self._end()

    def after(self) -> None:
        if self._passed == self._number:
            self.is_over = True
        self._end()

    def _end(self) -> None:
        if self.is_over:
            raise Killed


@contextmanager
def killed_at(number: int, *, is_done: bool) -> Iterator[Fate]:
    """Inside, whoever reaches that effect dies; a run that has fewer of them ends as ever."""
    fate = Fate(number, is_done=is_done)
    real = LedgerFile.transaction

    @contextmanager
    def transaction(ledger: LedgerFile) -> Iterator[Transcript]:
        fate.before()
        with real(ledger) as rows:
            yield rows
        fate.after()

    def fatal(name: str) -> Any:
        write = getattr(Objects, name)

        def call(*given: Any, **named: Any) -> Any:
            fate.before()
            result = write(*given, **named)
            fate.after()
            return result

        return call

    writing = {name: fatal(name) for name in _WRITING}
    with patch.multiple(Objects, **writing), patch.object(LedgerFile, "transaction", transaction):
        yield fate


class LostAnswer:
    """Builds tables, and of each the first time somebody asks says that it did not happen."""

    def __init__(self) -> None:
        self._asked: set[str] = set()

    def __call__(self, build: Build) -> Built:
        built = materialize(build)
        if build.table.name not in self._asked:
            self._asked.add(build.table.name)
            raise ConcurrentChange("the answer was lost on its way")
        return built
