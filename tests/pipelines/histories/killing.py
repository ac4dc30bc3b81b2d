"""Runs that die: at a chosen effect, before or after it, and nothing of theirs happens afterwards.

An effect is what outlives a process: a transaction of the ledger, an object that is written, a note
or a copy that is sent. What still runs when a run unwinds finds that it can change nothing any
more, as if the process were gone; the locks it holds go then, as they do with a process.
"""

import os
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any
from unittest.mock import patch

from rocky.errors import ConcurrentChange
from rocky.ledger import ledger_file
from rocky.ledger.claims import LocalClaim
from rocky.ledger.ledger_file import LedgerFile
from rocky.ledger.schema import RowWriter
from rocky.run.materialize.build import Build, Built
from rocky.run.materialize.strategy import materialize
from rocky.state.backend import RemoteFailure
from rocky.state.valkey_server import ValkeyServer
from rocky.store.objects import Objects

_WRITING = ("create", "put", "delete")
_SENDING = ("swap", "create_note", "put_note", "replace_note", "delete_note")


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
    with ExitStack() as patched:
        patched.enter_context(_locks_that_end())
        patched.enter_context(patch.object(LedgerFile, "transaction", _fatal_transaction(fate)))
        writing = {name: _fatal(fate, getattr(Objects, name)) for name in _WRITING}
        patched.enter_context(patch.multiple(Objects, **writing))
        sending = {name: _unsent(fate, getattr(ValkeyServer, name)) for name in _SENDING}
        patched.enter_context(patch.multiple(ValkeyServer, **sending))
        yield fate


def _fatal_transaction(fate: Fate) -> Any:
    real = LedgerFile.transaction

    @contextmanager
    def transaction(ledger: LedgerFile) -> Iterator[RowWriter]:
        fate.before()
        with real(ledger) as rows:
            yield rows
        fate.after()

    return transaction


def _fatal(fate: Fate, function: Callable[..., Any]) -> Any:
    def call(*given: Any, **named: Any) -> Any:
        fate.before()
        result = function(*given, **named)
        fate.after()
        return result

    return call


def _unsent(fate: Fate, function: Callable[..., Any]) -> Any:
    """As `_fatal`, for threads beside the run too: to them a server that is out of reach."""
    fatal = _fatal(fate, function)

    def call(*given: Any, **named: Any) -> Any:
        try:
            return fatal(*given, **named)
        except Killed:
            raise RemoteFailure("the process is gone", is_transient=False) from None

    return call


@contextmanager
def _locks_that_end() -> Iterator[None]:
    """Afterwards no lock is held that was taken inside, and its file lies where it was."""
    held: dict[int, LocalClaim] = {}
    hold, release = ledger_file.hold_claim, LocalClaim.release

    def remember(*given: Any) -> LocalClaim:
        claim = hold(*given)
        held[claim.descriptor] = claim
        return claim

    def forget(claim: LocalClaim) -> None:
        held.pop(claim.descriptor, None)
        release(claim)

    with (
        patch.object(ledger_file, "hold_claim", remember),
        patch.object(LocalClaim, "release", forget),
    ):
        yield
    for descriptor in held:
        os.close(descriptor)


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
