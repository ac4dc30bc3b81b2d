"""Notes of a start: commands that show no progress say all the same that they wait for Spark.

What draws them is loaded when Spark starts, and most of these commands do without it.
"""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING

from rocky.cli.options import Settings
from rocky.operations.workspace import Workspace
from rocky.run.outcomes import SilentListener

if TYPE_CHECKING:
    from rocky.cli.live import LineListener, LiveListener


class StartNotes(SilentListener):
    """Of all that there is to hear of a run, that Spark starts, and how long it took."""

    def __init__(self, settings: Settings, opened: ExitStack) -> None:
        self._settings = settings
        self._opened = opened
        self._listener: LineListener | LiveListener | None = None

    def engine_starting(self, *, remote: bool) -> None:
        from rocky.cli.live import open_listener  # noqa: PLC0415 - as said above

        self._listener = self._opened.enter_context(open_listener(self._settings))
        self._listener.engine_starting(remote=remote)

    def engine_started(self, duration_ms: int) -> None:
        if self._listener is not None:
            self._listener.engine_started(duration_ms)
            self._listener.rest()

    def engine_waiting(self, said: str) -> None:
        if self._listener is not None:
            self._listener.engine_waiting(said)


@contextmanager
def note_start(settings: Settings) -> Iterator[Workspace]:
    """The workspace of a command, which says that it waits for Spark if it does."""
    with ExitStack() as opened:
        yield replace(settings.workspace, listener=StartNotes(settings, opened))
