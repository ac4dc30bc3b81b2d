"""`[hook]`: commands and web hooks that follow a run's events."""

from collections.abc import Mapping
from typing import Annotated, Any, Final, Literal, NamedTuple

from rocky.diagnostics.suggestion import suggestion
from rocky.project.toml.documents import NonNegative, Problem, Problems, ReadBy
from rocky.project.toml.records import INVALID, reader_for, wrong_type
from rocky.project.toml.variables import Keys

OnFailure = Literal["warn", "abort", "ignore"]

EVENTS: Final = (
    "pipeline_start",
    "discover_complete",
    "compile_complete",
    "pipeline_complete",
    "pipeline_error",
    "before_materialize",
    "after_materialize",
    "materialize_error",
    "before_model_run",
    "after_model_run",
    "model_error",
    "before_checks",
    "check_result",
    "after_checks",
    "drift_detected",
    "anomaly_detected",
    "state_synced",
    "budget_breach",
)


class Command(NamedTuple):
    """A shell command; the event comes as JSON on its standard input."""

    command: str
    timeout_ms: NonNegative = 30000
    on_failure: OnFailure = "warn"
    env: Mapping[str, str] = {}


class Webhook(NamedTuple):
    """A request to a URL."""

    url: str
    method: str = "POST"
    headers: Mapping[str, str] = {}
    body_template: str | None = None
    secret: str | None = None
    timeout_ms: NonNegative = 10000
    async_: bool = False
    on_failure: OnFailure = "warn"
    retry_count: NonNegative = 0
    retry_delay_ms: NonNegative = 1000
    preset: Literal["slack", "pagerduty", "datadog", "teams"] | None = None


class HookSettings(NamedTuple):
    """What follows each event, by event name without `on_`."""

    commands: Mapping[str, tuple[Command, ...]] = {}
    webhooks: Mapping[str, tuple[Webhook, ...]] = {}


def _read_hooks(value: Any, at: Keys, problems: Problems) -> Any:
    if not isinstance(value, dict):
        return wrong_type("a table", value, at, problems)
    rest = {key: one for key, one in value.items() if key != "webhooks"}
    webhooks = value.get("webhooks", {})
    if not isinstance(webhooks, dict):
        wrong_type("a table", webhooks, (*at, "webhooks"), problems)
        webhooks = {}
    return HookSettings(
        _read_events(rest, Command, at, problems),
        _read_events(webhooks, Webhook, (*at, "webhooks"), problems),
    )


def _read_events(
    table: dict[str, Any], record: type, at: Keys, problems: Problems
) -> dict[str, tuple[Any, ...]]:
    """The hooks of each event: one table, or an array of them."""
    read_one = reader_for(record)
    events: dict[str, tuple[Any, ...]] = {}
    for key, value in table.items():
        here = (*at, key)
        event = key.removeprefix("on_")
        if event not in EVENTS or event == key:
            near = suggestion(key, [f"on_{event}" for event in EVENTS])
            problems.append(Problem(here, f"`{key}` is not an event", near, True))
        elif isinstance(value, list):
            read = [read_one(one, (*here, index), problems) for index, one in enumerate(value)]
            events[event] = tuple(one for one in read if one is not INVALID)
        else:
            one = read_one(value, here, problems)
            events[event] = () if one is INVALID else (one,)
    return events


Hooks = Annotated[HookSettings, ReadBy(_read_hooks)]
