"""Hooks: those of a project listed and tried, and a run whose hooks are told of it."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TypeVar

from rocky.errors import NothingSelected, RockyError, RunSkipped, describe_failure
from rocky.hooks.delivery import Surroundings, deliver, target_of
from rocky.hooks.events import Event, RunFacts
from rocky.hooks.relay import HookRelay
from rocky.operations.digest import Digest, Digested, counts
from rocky.operations.workspace import Workspace, load_workspace
from rocky.plan.arguments import Request
from rocky.project import Project
from rocky.project.configuration.hooks import Hook, Hooks
from rocky.run.outcomes import HookDelivery, RunResult
from rocky.run.prepare.caller import Caller


@dataclass(frozen=True, slots=True)
class HooksRequest(Request):
    """Hooks of one event; without one, all."""

    event: str | None = None


@dataclass(frozen=True, slots=True)
class ListedHook:
    """A hook. `target` is a command's program or an address's host, never all of it."""

    event: str
    target: str
    format: str | None
    signed: bool
    required: bool
    timeout_seconds: int
    retries: int


@dataclass(frozen=True, slots=True, repr=False)
class HooksReport(Digested):
    """What is called, and when."""

    hooks: tuple[ListedHook, ...]

    def digest(self) -> Digest:
        rows = [(each.event, each.target, each.required) for each in self.hooks]
        return Digest(counts(hook=len(rows)), ("event", "target", "required"), rows, len(rows))


@dataclass(frozen=True, slots=True, repr=False)
class HookTestReport(Digested):
    """What became of telling each hook of an event that is marked as a test."""

    deliveries: tuple[HookDelivery, ...]

    @property
    def failed(self) -> bool:
        return any(each.error is not None for each in self.deliveries)

    def digest(self) -> Digest:
        rows = [(each.event, each.target, each.error or "taken") for each in self.deliveries]
        return Digest(counts(hook=len(rows)), ("event", "target", "answer"), rows, len(rows))


def list_hooks(workspace: Workspace, request: HooksRequest) -> HooksReport:
    """The project's hooks. Raises NothingSelected for an event that there is not."""
    found = _hooks_of(load_workspace(workspace), request)
    return HooksReport(
        tuple(
            ListedHook(
                event,
                target_of(hook),
                None if hook.url is None else hook.format,
                hook.secret is not None,
                hook.required,
                hook.timeout_seconds,
                hook.retries,
            )
            for event, hook in found
        )
    )


def test_hooks(workspace: Workspace, request: HooksRequest) -> HookTestReport:
    """Tell each hook of an event that says that it is a test. Raises as `list_hooks`."""
    project = load_workspace(workspace)
    place = Surroundings(project.root.absolute(), workspace.environment)
    facts = RunFacts(project_name(project), branch=workspace.branch_name)
    title = f"a test of the hooks of {facts.project}"
    return HookTestReport(
        tuple(
            deliver(hook, Event(event, title, facts, is_test=True), place)
            for event, hook in _hooks_of(project, request)
        )
    )


def project_name(project: Project) -> str:
    """What events call a project: its folder, wherever Rocky was started."""
    return project.root.resolve().name


def _hooks_of(project: Project, request: HooksRequest) -> list[tuple[str, Hook]]:
    if request.event is not None and request.event not in Hooks._fields:
        listed = ", ".join(f"`{name}`" for name in Hooks._fields)
        raise NothingSelected(f"no event `{request.event}`; there are {listed}")
    found = [
        (event, hook)
        for event in Hooks._fields
        if request.event in (None, event)
        for hook in getattr(project.config.hook, event)
    ]
    if not found:
        where = "" if request.event is None else f" for `{request.event}`"
        raise NothingSelected(f"rocky.toml has no hook{where}; `[hook.on_run_failure]` adds one")
    return found


Tell = Callable[[RunResult], RunResult]
Outcome = TypeVar("Outcome")


def run_with_hooks(
    workspace: Workspace,
    project: Project,
    caller: Caller,
    pipeline: str | None,
    work: Callable[[Caller, Tell], Outcome],
) -> Outcome:
    """Do a run's `work` while its hooks are told of it.

    The caller that it is given hears for them, and with what it is given it tells of its end. A run
    that ends with an error is told of too.
    """
    origin = caller.circumstances
    facts = RunFacts(
        project_name(project),
        pipeline,
        workspace.branch_name,
        origin.triggering_identity,
        origin.git_commit,
    )
    place = Surroundings(project.root.absolute(), workspace.environment)
    relay = HookRelay(caller.listener, project.config.hook, facts, place)

    def tell(result: RunResult) -> RunResult:
        return replace(result, hooks=relay.conclude(result))

    try:
        return work(replace(caller, listener=relay), tell)
    except RunSkipped:
        raise
    except RockyError as failure:
        for each in relay.give_up(describe_failure(failure)):
            if each.error is not None:
                workspace.warn(f"hook `{each.event}` ({each.target}) failed: {each.error}")
        raise
