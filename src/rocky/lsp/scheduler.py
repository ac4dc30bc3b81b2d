"""The scheduler: what the reading thread hears, in the order in which the worker does it.

Edits of one document are one edit, the last. Edits come first, because whatever is asked after one
is asked of the new text; then requests; and the readers of what was edited are looked at while
there is nothing else to do. Where following an edit takes long, one waits until nobody types.
"""

from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from threading import Condition
from time import monotonic
from typing import Final

from rocky.lsp.context import Params
from rocky.lsp.documents import Document
from rocky.lsp.requests.table import Request

_QUICK: Final = 0.05
"""An edit that is followed in so many seconds is followed at once."""
_LONGEST_QUIET: Final = 0.3

Documents = Mapping[str, Document]


@dataclass(frozen=True, slots=True)
class Edits:
    """What happened since the last ones: documents that are others or closed, files on disk."""

    documents: Documents
    uris: tuple[str, ...]
    files: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Asked:
    """A request that is waiting for its answer."""

    id: object
    request: Request
    params: Params


@dataclass(frozen=True, slots=True)
class Settle:
    """Nothing else is to be done: look at the readers."""


@dataclass(frozen=True, slots=True)
class Stop:
    """The client is gone."""


Job = Edits | Asked | Settle | Stop


@dataclass(slots=True)
class Scheduler:
    """Shared by the reading thread, which puts, and the worker, which takes."""

    documents: Documents = field(default_factory=dict)
    _uris: dict[str, None] = field(default_factory=dict)
    _files: dict[str, None] = field(default_factory=dict)
    _asked: deque[Asked] = field(default_factory=deque)
    _stopped: bool = False
    _edited: float = 0.0
    _quiet: float = 0.0
    _changed: Condition = field(default_factory=Condition)
    is_known: Callable[[Asked], bool] = lambda _: False
    """Whether a request can be answered from what was compiled before its text was edited."""

    def edit(self, documents: Documents, uri: str) -> None:
        """A document was opened, changed or closed."""
        with self._changed:
            self.documents = documents
            self._uris[uri] = None
            self._edited = monotonic()
            self._changed.notify()

    def touch(self, files: list[str]) -> None:
        """Files changed on disk, came or went; none only wakes the worker."""
        with self._changed:
            self._files |= dict.fromkeys(files)
            self._changed.notify()

    def ask(self, asked: Asked) -> None:
        with self._changed:
            self._asked.append(asked)
            self._changed.notify()

    def cancel(self, request: object) -> bool:
        """Whether a request was still waiting; it is not any more."""
        with self._changed:
            found = next((each for each in self._asked if each.id == request), None)
            if found is not None:
                self._asked.remove(found)
            return found is not None

    def stop(self) -> None:
        with self._changed:
            self._stopped = True
            self._changed.notify()

    def is_urgent(self) -> bool:
        """Whether something came that does not wait for readers to be looked at."""
        with self._changed:
            waiting = any(not each.request.waits for each in self._asked)
            return self._stopped or waiting or bool(self._uris or self._files)

    def is_edited(self) -> bool:
        """Whether a text or a file is another than the worker knows, or nobody waits any more."""
        with self._changed:
            return self._stopped or bool(self._uris or self._files)

    def took(self, seconds: float) -> None:
        """How long it took to follow the last edits."""
        self._quiet = 0.0 if seconds < _QUICK else min(seconds, _LONGEST_QUIET)

    def take_known(self) -> Asked | None:
        """The next request that need not wait for its text to be followed, if there is one."""
        with self._changed:
            return self._next_known()

    def take(self, *, settled: bool) -> Job:
        """The next thing to do; waits for one where there is none. `settled`: no reader is left."""
        with self._changed:
            while True:
                job = self._next(settled=settled)
                if job is not None:
                    return job
                wait = self._edited + self._quiet - monotonic() if self._uris else None
                self._changed.wait(wait)

    def _next(self, *, settled: bool) -> Job | None:
        if self._stopped:
            return Stop()
        known = self._next_known() if self._uris else None
        if known is not None:
            return known
        if self._files or self._uris:
            quiet = monotonic() - self._edited >= self._quiet
            if quiet or self._files or self._asked:
                edits = Edits(self.documents, tuple(self._uris), tuple(self._files))
                self._uris, self._files = {}, {}
                return edits
            return None
        for asked in self._asked:
            if settled or not asked.request.waits:
                self._asked.remove(asked)
                return asked
        return None if settled else Settle()

    def _next_known(self) -> Asked | None:
        found = next((each for each in self._asked if self.is_known(each)), None)
        if found is not None:
            self._asked.remove(found)
        return found
