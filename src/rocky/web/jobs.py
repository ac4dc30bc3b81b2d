"""Jobs: actions that a page asks for, one at a time, carried out in a thread by the operations.

Every gate is the operation's own: a job is refused just as a command would be.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from threading import Lock, Thread
from typing import TYPE_CHECKING, Any, Final, Literal

from rocky.errors import InvalidRequest, RunRefused
from rocky.operations.report import encode_report
from rocky.protocol.endpoint import Arguments, Parameter, describe_error
from rocky.protocol.notices import Notices

# ruff: noqa: PLC0415 - a server says its address before it has loaded what acts
if TYPE_CHECKING:
    from rocky.ledger.run_records import AttemptRecord
    from rocky.operations.workspace import Workspace
    from rocky.plan.steps import Step
    from rocky.run.outcomes import StepOutcome

_SELECT: Final = Parameter("select", "selectors, as `rocky run` takes them", many=True)


@dataclass(frozen=True, slots=True)
class Action:
    """Something that a page may ask for."""

    name: str
    about: str
    act: "Callable[[Workspace, Arguments], Any]"
    parameters: tuple[Parameter, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """An action that was begun: how it stands, and its report once it is done."""

    number: int
    action: str
    status: Literal["running", "done", "failed"]
    steps: int | None = None
    ended: int | None = None
    running: tuple[str, ...] = ()
    report: Any = None
    error: Any = None


@dataclass(frozen=True, slots=True)
class JobsReport:
    """What may be asked for, what can be looked at, and the job that was begun last."""

    actions: tuple[str, ...]
    job: Job | None = None
    endpoints: tuple[str, ...] = ()


def _run(workspace: "Workspace", given: Arguments) -> Any:
    from rocky.operations.execution.run import run
    from rocky.plan.request import RunRequest

    return run(workspace, RunRequest(given["select"], test=given["test"]))


def _verify(workspace: "Workspace", given: Arguments) -> Any:
    from rocky.operations.proof.verify import VerifyRequest, verify

    return verify(workspace, VerifyRequest(given["what"], given["sealed"]))


def _replay(workspace: "Workspace", given: Arguments) -> Any:
    from rocky.operations.proof.replay import ReplayRequest, replay

    return replay(workspace, ReplayRequest(given["run"] or "latest", verify=True))


ACTIONS: Final = (
    Action(
        "run",
        "Build what is selected, as `rocky run`.",
        _run,
        (_SELECT, Parameter("test", "test each model as it is built", bool)),
    ),
    Action(
        "verify",
        "Check records and tables, as `rocky verify`.",
        _verify,
        (
            Parameter("what", "a run, a model or a table; all without one"),
            Parameter("sealed", "where seals are"),
        ),
    ),
    Action(
        "replay",
        "Check the record of a run, as `rocky replay --verify`.",
        _replay,
        (Parameter("run", "a run's id, or `latest`"),),
    ),
)


class Jobs:
    """The jobs of a server; none can be begun where actions are not allowed."""

    def __init__(self, workspace: "Workspace", notices: Notices, *, allowed: bool) -> None:
        self._workspace, self._notices = workspace, notices
        self._actions = {each.name: each for each in ACTIONS} if allowed else {}
        self._lock = Lock()
        self._job: Job | None = None

    def report(self) -> JobsReport:
        """How things stand."""
        return JobsReport(tuple(self._actions), self._job)

    def action(self, name: str) -> Action | None:
        """An action that is allowed."""
        return self._actions.get(name)

    def begin(self, action: Action, arguments: Arguments) -> Job:
        """Begin a job. Raises RunRefused while another goes on."""
        if self._actions.get(action.name) is not action:
            raise InvalidRequest("actions are not allowed here; `rocky ui --allow-actions` does")
        with self._lock:
            last = self._job
            if last is not None and last.status == "running":
                raise RunRefused(f"`{last.action}` is still going on: wait for it")
            number = 1 if last is None else last.number + 1
            job = self._job = Job(number=number, action=action.name, status="running")
        Thread(
            target=self._carry_out, args=(action, arguments), name="rocky-job", daemon=True
        ).start()
        self._notices.tell("job", number=number, status="running")
        return job

    def change(self, **facts: Any) -> None:
        """Something is new about the job that goes on."""
        with self._lock:
            if self._job is None:
                return
            job = self._job = replace(self._job, **facts)
        self._notices.tell("job", number=job.number, status=job.status)

    def _carry_out(self, action: Action, arguments: Arguments) -> None:
        watched = replace(self._workspace, listener=_Progress(self), is_interactive=False)
        try:
            report = encode_report(action.act(watched, arguments))
        except Exception as failure:  # noqa: BLE001 - whatever it is, the page is told of it
            self.change(status="failed", error=describe_error(failure).document["error"])
        else:
            self.change(status="done", report=report, running=())


class _Progress:
    """Who hears of a run and notes it in its job."""

    def __init__(self, jobs: Jobs) -> None:
        self._jobs = jobs
        self._running: list[str] = []
        self._ended = 0

    def queued(self, run_id: str, steps: "Sequence[Step]") -> None:  # noqa: ARG002 - as a listener is called
        self._jobs.change(steps=len(steps), ended=0)

    def started(self, step: "Step") -> None:
        self._running.append(step.name)
        self._jobs.change(running=tuple(self._running))

    def progress(self, step: "Step", done: int, known: int) -> None: ...

    def retried(self, step: "Step", attempt: "AttemptRecord") -> None: ...

    def finished(self, outcome: "StepOutcome") -> None:
        self._ended += 1
        if outcome.step.name in self._running:
            self._running.remove(outcome.step.name)
        self._jobs.change(ended=self._ended, running=tuple(self._running))
