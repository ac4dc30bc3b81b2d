"""A request: what somebody asks a run to do, and the steps that follow from it.

A plan keeps its request as JSON. The fields are those of `RunRequest` and `Window` themselves: a
flag that is added to them is kept without anybody thinking of it here.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any, Final, Literal, get_type_hints

from rocky.analysis.compilation import Compilation
from rocky.diagnostics.suggestion import suggestion
from rocky.errors import InvalidRequest, NothingSelected, PlanUnreadable
from rocky.plan.arguments import Count, Natural, Request, fits
from rocky.plan.selectors import select_models
from rocky.plan.steps import RunPlan, plan_steps


@dataclass(frozen=True, slots=True)
class Window(Request):
    """Which time intervals of a time-interval model to build. At most one way is set.

    `recorded` are keys of partitions that the ledger says are computed.
    """

    start: str | None = None
    end: str | None = None
    partition: str | None = None
    latest: bool = False
    missing: bool = False
    lookback: Natural | None = None
    recorded: frozenset[str] = frozenset()


NO_WINDOW: Final = Window()


PARALLEL: Final = 4
"""Models at once unless told: enough to fill the gaps between one model's stages."""

LATEST: Final = "latest"
"""To resume the newest run of a pipeline, whatever it is called."""


@dataclass(frozen=True, slots=True)
class RunRequest(Request):
    """What to build and how. Without selectors everything is built.

    With `test` each model is tested as it is built, and what reads one that fails is not built.
    `filters` and `resume` are for the tables of pipelines that are no models. `start_anew` is a
    full refresh of tables that a state which was lost knew. `force` builds also what is held
    because it was reverted. With `keep_going` models with errors, and what stands on them, are left
    out and the others built.
    """

    select: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    pipeline: str | None = None
    parallel: Count | None = None
    full_refresh: bool = False
    rebuild: bool = False
    reuse: bool = True
    adapter: str | None = None
    window: Window = NO_WINDOW
    filters: tuple[str, ...] = ()
    resume: str | None = None
    idempotency_key: str | None = None
    test: bool = False
    start_anew: bool = False
    force: bool = False
    keep_going: bool = False

    @property
    def builds_whole(self) -> bool:
        """Whether tables are built whole, whatever their strategy."""
        return self.full_refresh or self.start_anew


def refuse_contradictions(request: RunRequest) -> None:
    """Raises InvalidRequest for what cannot be asked for, or not together."""
    key, window = request.idempotency_key, request.window
    if key is not None and not key.strip():
        raise InvalidRequest("`--idempotency-key` is empty")
    ways = [name for name in ("partition", "latest", "missing") if getattr(window, name)]
    if window.start or window.end:
        ways.append("from/to")
    if len(ways) > 1:
        raise InvalidRequest(f"`--{ways[0]}` and `--{ways[1]}` cannot be used together")
    if ways and request.builds_whole:
        whole = "full-refresh" if request.full_refresh else "start-anew"
        raise InvalidRequest(
            f"`--{whole}` builds every time interval: it cannot be used with `--{ways[0]}`"
        )


def plan_request(compilation: Compilation, request: RunRequest) -> RunPlan:
    """The steps a request asks for. Raises NothingSelected."""
    keys = select_models(compilation, request.select, request.exclude)
    if request.pipeline is not None:
        pipelines = compilation.project.config.pipeline
        if request.pipeline not in pipelines:
            hint = suggestion(request.pipeline, pipelines) or "see `[pipeline]` in rocky.toml"
            raise NothingSelected(f"no pipeline `{request.pipeline}`; {hint}")
        models = compilation.project.models
        keys = tuple(key for key in keys if models[key].pipeline == request.pipeline)
        if not keys:
            raise NothingSelected(f"no selected model belongs to pipeline `{request.pipeline}`")
    return plan_steps(compilation, keys)


ADAPTIVE_MOST: Final = 32


@dataclass(frozen=True, slots=True)
class Limits:
    """How hard a run tries. `abort_pct` 0 never gives up."""

    parallel: int | Literal["adaptive"]
    most: int = ADAPTIVE_MOST
    fail_fast: bool = False
    abort_pct: float = 0.0


_DERIVED_FIELDS: Final = frozenset({"recorded"})
"""What no flag says: a run finds it in the ledger."""
_LATER_FLAGS: Final = frozenset({"force", "keep_going", "start_anew", "test"})
"""Flags that plans of 0.1.0 do not know: such a plan is the same where they are not set."""


@dataclass(frozen=True, slots=True)
class PlanRequest:
    """What was asked for: the request, on which branch, with which values of `@var(...)`.

    `mask_env` is the environment whose masks hold.
    """

    request: RunRequest
    branch: str | None = None
    variables: Mapping[str, str] = field(default_factory=dict)
    mask_env: str | None = None


def request_document(asked: PlanRequest) -> dict[str, Any]:
    """What was asked for as JSON; what was not said is absent."""
    request = _document(asked.request)
    window = _document(asked.request.window)
    found = {
        **request,
        "window": window,
        "branch": asked.branch,
        "variables": asked.variables,
        "mask_env": asked.mask_env,
    }
    return {name: value for name, value in found.items() if value not in (None, {}, [])}


def parse_request_document(document: Any) -> PlanRequest:
    """What was asked for. Raises PlanUnreadable for what this Rocky does not know."""
    rest = dict(document) if isinstance(document, dict) else {"request": document}
    branch, variables = rest.pop("branch", None), rest.pop("variables", {})
    mask_env = rest.pop("mask_env", None)
    texts = isinstance(branch, str | None) and isinstance(mask_env, str | None)
    if not texts or not _is_texts(variables):
        raise PlanUnreadable("the plan's request cannot be read: make a new plan with `rocky plan`")
    window = Window(**_values(Window, rest.pop("window", {}), "window"))
    values = _values(RunRequest, rest, "request")
    request = RunRequest(**{**values, "window": window if window != Window() else NO_WINDOW})
    return PlanRequest(request, branch, dict(variables), mask_env)


def _document(value: RunRequest | Window) -> dict[str, Any]:
    found = {
        each.name: getattr(value, each.name)
        for each in fields(value)
        if each.name not in _DERIVED_FIELDS and each.name != "window"
    }
    listed = {name: list(each) if isinstance(each, tuple) else each for name, each in found.items()}
    return {
        name: each
        for name, each in listed.items()
        if each is not None and (each or name not in _LATER_FLAGS)
    }


def _values(kind: type[RunRequest | Window], document: Any, what: str) -> dict[str, Any]:
    known = {each.name for each in fields(kind)} - _DERIVED_FIELDS - {"window"}
    given = document if isinstance(document, dict) else {what: document}
    values = {
        name: tuple(value) if isinstance(value, list) else value for name, value in given.items()
    }
    hints = get_type_hints(kind, include_extras=True)
    for name, value in values.items():
        if name not in known:
            raise PlanUnreadable(
                f"the plan's {what} says `{name}`, which this Rocky does not know: make a new"
                " plan with `rocky plan`"
            )
        if not fits(value, hints[name]):
            raise PlanUnreadable(
                f"`{name}` in the plan's {what} is not a value that a flag can have: make a"
                f" new plan"
                " with `rocky plan`"
            )
    return values


def _is_texts(value: Any) -> bool:
    return isinstance(value, dict) and all(isinstance(each, str) for each in value.values())
