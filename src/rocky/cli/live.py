"""What people see of a run while it is running: on standard error, never in the way of the answer.

On a terminal the steps that run are a small table that is drawn over; elsewhere each step that ends
is a line, which is what a CI log wants.
"""

import os
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Final

from rich.console import Console
from rich.live import Live
from rich.table import Table

from rocky.cli.console import write_note
from rocky.cli.options import Settings, in_github
from rocky.cli.render.run import LISTED_AT_MOST
from rocky.cli.render.tables import format_count, format_duration
from rocky.ledger.run_records import AttemptRecord, ModelExecution, ModelStatus
from rocky.operations.records.outcome_words import AS_BEFORE, HELD_BACK, is_as_before
from rocky.plan.steps import HELD, UNREAD, Step, expected_steps
from rocky.run.outcomes import StepOutcome, WithoutProgress, is_left_alone

_DRAWS_PER_SECOND: Final = 8
_MARKS: Final = {
    ModelStatus.SUCCESS: "built",
    ModelStatus.REUSED: "reused",
    ModelStatus.FAILED: "FAILED",
    # A step that is held back has a line of its own.
    ModelStatus.SKIPPED: "resumed",
    ModelStatus.INTERRUPTED: "interrupted",
}


class LineListener(WithoutProgress):
    """A line for each step that ends; in a large run those with nothing to do share one."""

    def __init__(self, say: Callable[[str], None] = write_note) -> None:
        self._say = say
        self._total = 0
        self._ended = 0
        self._left_alone = 0

    def queued(self, run_id: str, steps: Sequence[Step]) -> None:
        # One listener may hear of several runs, one after the other.
        self._total, self._ended = len(expected_steps(steps)), 0
        self._say(f"{run_id}: {_counted(expected_steps(steps))}")

    def started(self, step: Step) -> None:  # noqa: ARG002 - the listener's signature
        self._say_left_alone()

    def retried(self, step: Step, attempt: AttemptRecord) -> None:
        self._say(_describe_retry(step, attempt))

    def finished(self, outcome: StepOutcome) -> None:
        # What is not in the report is not counted here either.
        expected = len(expected_steps([outcome.step]))
        if not outcome.is_told:
            self._total -= expected
            return
        self._ended += 1
        self._total += 1 - expected
        if self._total > LISTED_AT_MOST and is_left_alone(outcome.execution):
            self._left_alone += 1
            return
        self._say_left_alone()
        self._say(f"{self._place()}  {describe_ending(outcome)}")

    def engine_starting(self, *, remote: bool) -> None:
        self._say(f"{describe_start(remote=remote)} ...")

    def engine_started(self, duration_ms: int) -> None:
        self._say(f"Spark is up, after {format_duration(duration_ms)}")

    def engine_waiting(self, said: str) -> None:
        self._say(said)

    def rest(self) -> None:
        """Nothing is to be seen until the next run begins."""

    def _say_left_alone(self) -> None:
        if self._left_alone:
            self._say(f"{self._place()}  {self._left_alone} left alone, as earlier runs left them")
            self._left_alone = 0

    def _place(self) -> str:
        return f"{self._ended:>{len(str(self._total))}}/{self._total}"


class GroupListener(LineListener):
    """The lines of each run as a group that the log of GitHub Actions folds.

    GitHub obeys lines that begin with `::`, so none of ours has a second one.
    """

    def __init__(self, say: Callable[[str], None] = write_note) -> None:
        super().__init__(lambda text: say(" ".join(text.splitlines())))
        self._command = say
        self._is_open = False

    def queued(self, run_id: str, steps: Sequence[Step]) -> None:
        self.rest()
        self._command(f"::group::{run_id}")
        self._is_open = True
        super().queued(run_id, steps)

    def rest(self) -> None:
        """The run has ended: what follows is not of it."""
        if self._is_open:
            self._command("::endgroup::")
            self._is_open = False


class LiveListener:
    """A table of the steps that run, drawn over; steps that ended scroll away above it."""

    def __init__(self, *, no_colour: bool) -> None:
        self._console = Console(stderr=True, no_color=no_colour)
        self._lines = LineListener(
            lambda text: self._console.print(text, markup=False, highlight=False)
        )
        self._running: dict[str, tuple[Step, float, int, int]] = {}
        self._waiting = 0
        self._starting: tuple[str, float] | None = None
        self._live: Live | None = None

    def rest(self) -> None:
        """Nothing is to be seen until the next run begins."""
        self._starting = None
        if self._live is not None:
            self._live.stop()
            self._live = None

    def queued(self, run_id: str, steps: Sequence[Step]) -> None:
        self._waiting = len(expected_steps(steps))
        self._show()
        self._lines.queued(run_id, steps)

    def engine_starting(self, *, remote: bool) -> None:
        """The line is drawn over as the seconds pass."""
        self._starting = describe_start(remote=remote), time.monotonic()
        self._show()

    def engine_started(self, duration_ms: int) -> None:
        self._starting = None
        self._lines.engine_started(duration_ms)

    def engine_waiting(self, said: str) -> None:
        self._lines.engine_waiting(said)

    def _show(self) -> None:
        if self._live is None:
            self._live = Live(
                console=self._console,
                get_renderable=self._draw,
                refresh_per_second=_DRAWS_PER_SECOND,
                transient=True,
            )
            self._live.start()

    def started(self, step: Step) -> None:
        self._lines.started(step)
        self._waiting -= len(expected_steps([step]))
        self._running[step.id] = (step, time.monotonic(), 0, 0)

    def progress(self, step: Step, done: int, known: int) -> None:
        if step.id in self._running:
            self._running[step.id] = (step, self._running[step.id][1], done, known)

    def retried(self, step: Step, attempt: AttemptRecord) -> None:
        self._lines.retried(step, attempt)

    def finished(self, outcome: StepOutcome) -> None:
        if self._running.pop(outcome.step.id, None) is None:
            self._waiting -= len(expected_steps([outcome.step]))
        self._lines.finished(outcome)

    def _draw(self) -> Table:
        table = Table.grid(padding=(0, 2))
        now = time.monotonic()
        starting = self._starting
        if starting is not None:
            what, since = starting
            table.add_row(f"{what} ...", format_duration(int((now - since) * 1000)))
        for step, began, done, known in list(self._running.values()):
            tasks = f"{done}/{known} tasks" if known else "starting"
            table.add_row("running", step.name, format_duration(int((now - began) * 1000)), tasks)
        if self._waiting > 0:
            table.add_row("queued", f"{self._waiting} more")
        return table


@contextmanager
def open_listener(settings: Settings) -> Iterator[LineListener | LiveListener]:
    """Who hears of progress: nobody, a terminal, or a log."""
    if settings.quiet:
        yield LineListener(lambda _text: None)
    elif in_github():
        group = GroupListener()
        try:
            yield group
        finally:
            group.rest()
    elif sys.stderr.isatty() and os.environ.get("TERM") != "dumb":
        live = LiveListener(no_colour=not settings.colour)
        try:
            yield live
        finally:
            live.rest()
    else:
        yield LineListener()


def describe_start(*, remote: bool) -> str:
    """What is waited for before the first model."""
    return "connecting to Spark" if remote else "starting Spark"


def describe_ending(outcome: StepOutcome) -> str:
    """How a step ended, in a line."""
    execution = outcome.execution
    if execution.status is ModelStatus.REUSED:
        why = (execution.reason or "").removeprefix("reused ")
        return f"reused  {outcome.step.name}  {why}"
    if outcome.blocked_by:
        blocked = ", ".join(f"`{name}`" for name in outcome.blocked_by)
        why = f"because {blocked} failed"
        if outcome.is_stale:
            why = str(execution.reason)
        return f"{HELD_BACK}  {outcome.step.name}  {why}"
    if execution.decision == HELD:
        return f"held  {outcome.step.name}  {(execution.reason or '').removeprefix('held: ')}"
    if is_left_alone(execution):
        return f"unchanged  {outcome.step.name}  {execution.reason}"
    said = [_MARKS[execution.status], outcome.step.name, *_facts(outcome, execution)]
    return "  ".join(said)


def _facts(outcome: StepOutcome, execution: ModelExecution) -> list[str]:
    if execution.status is ModelStatus.FAILED:
        return [execution.error or "no reason was given"]
    facts = [format_duration(execution.duration_ms)]
    if execution.rows_affected is not None:
        rows = execution.rows_affected
        facts.append(f"{format_count(rows)} row{'' if rows == 1 else 's'}")
    if execution.status is ModelStatus.SUCCESS and outcome.step.kind == "inline":
        facts.append(UNREAD if execution.reason == UNREAD else "no table: readers get the query")
    elif execution.reason:
        facts.append(execution.reason)
    if is_as_before(execution):
        facts.append(AS_BEFORE)
    return facts


def _describe_retry(step: Step, attempt: AttemptRecord) -> str:
    wait = format_duration(attempt.backoff_ms)
    return f"retry  {step.name}  attempt {attempt.attempt} failed, again in {wait}: {attempt.error}"


def _counted(steps: Sequence[Step]) -> str:
    if not steps:
        return "nothing to build"
    seeds = sum(step.kind == "seed" for step in steps)
    models = len(steps) - seeds
    text = f"{models} model{'' if models == 1 else 's'}"
    return f"{text}, {seeds} seed{'' if seeds == 1 else 's'}" if seeds else text
