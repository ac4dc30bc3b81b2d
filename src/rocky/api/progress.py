"""The progress of a run in a notebook: one place below the cell that is drawn over as models end.

The shell is IPython's; nothing of it is imported. In its terminal, which cannot draw over, each
model that ends is a line. Anywhere else the same lines go to the workspace's `note`, which is the
logger `rocky` unless somebody listens. A run never fails, and waits for nothing, because of it.
"""

import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from html import escape
from threading import Event, Thread
from typing import TYPE_CHECKING, Any, Final, TypeVar
from uuid import uuid4

if TYPE_CHECKING:
    from rocky.ledger.run_records import AttemptRecord
    from rocky.operations.workspace import Workspace
    from rocky.plan.steps import Step
    from rocky.run.outcomes import StepOutcome

Place = TypeVar("Place", bound="Workspace")

_EVERY: Final = 0.5
"""Seconds between two drawings."""
_RUNNING: Final = 8
"""So many of the models that run are shown."""
_FAILED: Final = 5
_BAD: Final = frozenset({"failed", "interrupted"})


class Progress:
    """Hears of a run, and knows at any time what to show of it.

    `say` is given a line for each thing that happens.
    """

    def __init__(self, what: str, say: Callable[[str], None] = lambda _: None) -> None:
        self.what = what
        self._say = say
        self._began = time.monotonic()
        self._run_id = ""
        self._total = self._ended = 0
        self._phase = "at work"
        self._words: dict[str, int] = {}
        self._running: dict[str, tuple[str, float, int, int]] = {}
        self._failed: list[str] = []

    # ------------------------------------------------------------------ what it hears

    def queued(self, run_id: str, steps: "Sequence[Step]") -> None:
        # Here, because `import rocky` is cheap.
        from rocky.plan.steps import expected_steps  # noqa: PLC0415

        # One listener may hear of several runs, one after the other.
        self._run_id, self._ended = run_id, 0
        self._total = len(expected_steps(steps))
        self._words, self._phase = {}, "running"
        self._say(f"{run_id}: {self._total} to look at")

    def engine_starting(self, *, remote: bool) -> None:
        self._phase = "connecting to Spark" if remote else "starting Spark"
        self._say(f"{self._phase} ...")

    def engine_started(self, duration_ms: int) -> None:
        self._phase = "running"
        self._say(f"Spark is up, after {duration_ms / 1000:.1f} s")

    def engine_waiting(self, said: str) -> None:
        self._phase = "waiting for executors"
        self._say(said)

    def started(self, step: "Step") -> None:
        self._running[step.id] = (step.name, time.monotonic(), 0, 0)

    def progress(self, step: "Step", done: int, known: int) -> None:
        before = self._running.get(step.id)
        if before is not None:
            self._running[step.id] = (*before[:2], done, known)
        if done:
            self._phase = "running"

    def retried(self, step: "Step", attempt: "AttemptRecord") -> None:
        self._say(f"again: {step.name}, attempt {attempt.attempt} failed: {attempt.error}")

    def finished(self, outcome: "StepOutcome") -> None:
        from rocky.operations.records.outcome_words import outcome_of  # noqa: PLC0415
        from rocky.plan.steps import expected_steps  # noqa: PLC0415

        self._running.pop(outcome.step.id, None)
        # What is not in the report is not counted here either.
        expected = len(expected_steps([outcome.step]))
        if not outcome.is_told:
            self._total -= expected
            return
        self._ended += 1
        self._total += 1 - expected
        execution = outcome.execution
        word = outcome_of(execution)
        self._words[word] = self._words.get(word, 0) + 1
        facts = [f"{execution.duration_ms / 1000:.1f} s"] if word == "built" else []
        if execution.rows_affected is not None:
            facts.append(f"{execution.rows_affected:,} rows")
        if execution.error:
            facts.append(" ".join(execution.error.split()))
        line = "  ".join([word, outcome.step.name, *facts])
        if word in _BAD:
            self._failed.append(line)
        self._say(f"{self._ended}/{self._total}  {line}")

    # ------------------------------------------------------------------ what it shows

    def sentence(self, *, over: str = "") -> str:
        """All of it in a line; `over` is how it ended, if it has."""
        seconds = f"{time.monotonic() - self._began:.1f} s"
        counted = ", ".join(f"{number} {word}" for word, number in self._words.items())
        if over:
            parts = [f"{self.what} {over} after {seconds}", counted]
        else:
            done = f"{self._ended} of {self._total}" if self._total else ""
            parts = [f"{self.what}: {self._phase}", done, seconds, counted]
        return ", ".join(filter(None, [*parts, self._run_id]))

    def html(self, *, over: str = "") -> str:
        """The same for a notebook, with the models that run and those that failed."""
        bar = ""
        if self._total and not over:
            bar = f'<progress value="{self._ended}" max="{self._total}"></progress> '
        now = time.monotonic()
        running = [] if over else list(self._running.values())
        rows = [
            f"<tr><td>{escape(name)}</td><td>{now - began:.0f} s</td>"
            f"<td>{f'{done}/{known} tasks' if known else ''}</td></tr>"
            for name, began, done, known in running[:_RUNNING]
        ]
        if len(running) > _RUNNING:
            rows.append(f"<tr><td>... and {len(running) - _RUNNING} more</td></tr>")
        failed = "".join(f"<div>{escape(each)}</div>" for each in self._failed[:_FAILED])
        if len(self._failed) > _FAILED:
            failed += f"<div>... and {len(self._failed) - _FAILED} more failed</div>"
        table = f"<table><tbody>{''.join(rows)}</tbody></table>" if rows else ""
        return f"<div>{bar}{escape(self.sentence(over=over))}</div>{failed}{table}"


class _Display:
    """One place in a notebook, and a thread that draws it anew while something happens."""

    def __init__(self, shell: Any, progress: Progress) -> None:
        self._publish, self._progress = shell.display_pub.publish, progress
        self._id = uuid4().hex
        self._shown = ""
        self._over = Event()
        # Here, in the thread of the cell: what others publish may land below another one.
        self._draw(first=True)
        self._thread = Thread(target=self._redraw, name="rocky-progress", daemon=True)
        self._thread.start()

    def end(self, how: str) -> None:
        """Leave the last word there."""
        self._over.set()
        self._thread.join(timeout=5)
        self._draw(over=how)

    def _redraw(self) -> None:
        while not self._over.wait(_EVERY):
            self._draw()

    def _draw(self, *, over: str = "", first: bool = False) -> None:
        html = self._progress.html(over=over)
        if html == self._shown:
            return
        self._shown = html
        data = {"text/plain": self._progress.sentence(over=over), "text/html": html}
        try:
            self._publish(data, transient={"display_id": self._id}, update=not first)
        except Exception:  # noqa: BLE001 - a page that is closed must not stop a run
            self._over.set()


def running_shell() -> Any:
    """IPython's shell, if this is one of its prompts or notebooks."""
    module = sys.modules.get("IPython")
    return module.get_ipython() if module is not None else None


def offer_names(kind: type) -> None:
    """Let IPython complete what `dir` lists of objects of a class; it adds all attributes else."""
    generics = sys.modules.get("IPython.utils.generics")
    if generics is not None:
        generics.complete_object.register(kind, lambda found, _: dir(found))


@contextmanager
def shown_progress(workspace: Place, what: str) -> Iterator[Place]:
    """The workspace, with what happens shown until the end of the block unless it has a listener.

    `what` is what happens, in a word.
    """
    if workspace.listener is not None:
        yield workspace
        return
    shell = running_shell()
    if shell is None or not hasattr(shell, "kernel"):
        say = workspace.note if shell is None else _sayer(shell)
        yield replace(workspace, listener=Progress(what, say))
        return
    progress = Progress(what)
    display = _Display(shell, progress)
    how = "stopped"
    try:
        yield replace(workspace, listener=progress)
        how = "ended"
    finally:
        display.end(how)


def _sayer(shell: Any) -> Callable[[str], None]:
    """Prints a line at the prompt of a terminal."""
    return lambda text: shell.display_pub.publish({"text/plain": text})
