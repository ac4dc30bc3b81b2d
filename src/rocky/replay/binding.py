"""Binding: recorded inputs as views, under the names that the recorded SQL calls them.

A name means one thing in one run. In two runs it may be two versions of a table, so models that
would disagree about a view are built in different batches.
"""

from collections.abc import Iterable, Iterator, Sequence
from threading import Lock
from typing import Generic, TypeVar

from rocky.ledger.provenance import ReadRecord
from rocky.replay.reads import FoundRead
from rocky.run.engine import Engine

T = TypeVar("T")


class Binder:
    """Makes the views of one batch, each once. Threads may share it."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._bound: dict[str, None] = {}
        self._lock = Lock()

    def bind(self, reads: Iterable[FoundRead]) -> None:
        """Make views of inputs that are not views yet."""
        with self._lock:
            for each in reads:
                self._bind(each)

    def close(self) -> None:
        """Drop every view."""
        self._engine.views.unbind(list(self._bound))

    def _bind(self, found: FoundRead) -> None:
        view, views = found.record.view, self._engine.views
        if view in self._bound:
            return
        if found.pinned is not None:
            views.bind_table(view, found.pinned.table, found.pinned.snapshot)
        elif found.source is not None:
            views.bind_source(view, found.source, found.pin)
        else:
            for each in found.below:
                self._bind(each)
            views.bind_frame(view, self._engine.frame(found.record.sql or ""))
        self._bound[view] = None


class Batch(Generic[T]):
    """Things whose inputs agree about every view."""

    def __init__(self) -> None:
        self.members: list[T] = []
        self._views: dict[str, ReadRecord] = {}

    def take(self, member: T, reads: Sequence[FoundRead]) -> bool:
        """Whether a member fits in; then it is in."""
        records = list(_records(reads))
        if any(self._views.get(each.view, each) != each for each in records):
            return False
        self._views.update({each.view: each for each in records})
        self.members.append(member)
        return True


def batches_of(members: Iterable[tuple[T, Sequence[FoundRead]]]) -> list[Batch[T]]:
    """Members in as many batches as their views ask for, nearly always one."""
    found: list[Batch[T]] = []
    for member, reads in members:
        if not any(batch.take(member, reads) for batch in found):
            batch: Batch[T] = Batch()
            batch.take(member, reads)
            found.append(batch)
    return found


def _records(reads: Iterable[FoundRead]) -> Iterator[ReadRecord]:
    for each in reads:
        yield each.record
        yield from _records(each.below)
