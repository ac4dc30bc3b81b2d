"""`[hook.on_EVENT]`: what is called when something happens in a run.

A hook is a command or a webhook. Secrets come from the environment: what stands in `rocky.toml` is
in git.
"""

import re
from collections.abc import Mapping
from typing import Annotated, Any, Final, Literal, NamedTuple
from urllib.parse import urlsplit

from rocky.project.toml.documents import NonNegative, Positive, Problem, Problems, ReadBy
from rocky.project.toml.records import INVALID, read_record, reader_for
from rocky.project.toml.variables import Keys, Unset, written

HookFormat = Literal["json", "slack", "teams", "pagerduty"]


class Hook(NamedTuple):
    """One call. A `required` one that does not succeed fails the run.

    A `command` gets the event as JSON on its standard input and `env` in its environment. A `url`
    gets it in its body, in the `format` of who listens there, signed with `secret`.
    """

    command: str | None = None
    env: Mapping[str, str] = {}
    url: str | None = None
    format: HookFormat = "json"
    headers: Mapping[str, str] = {}
    secret: str | None = None
    routing_key: str | None = None
    timeout_seconds: Positive = 10
    retries: NonNegative = 2
    required: bool = False

    def __repr__(self) -> str:
        """Without values: an address, a header or a key may be a secret."""
        return f"Hook({'command' if self.url is None else 'url'})"


_LIST: Final = reader_for(tuple[Hook, ...])
_REFERENCE: Final = re.compile(r"\$\{[A-Za-z_][A-Za-z0-9_]*\}")
"""A value that is in the environment and nowhere else: no default, no text beside it."""
_VARIABLE: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_UNFIT: Final = re.compile(r"[\s\0-\x1f\x7f]")
_LONGEST_SECONDS: Final = 3600
_OF_URL: Final = ("format", "headers", "secret", "routing_key")


def _read_hooks(value: Any, at: Keys, problems: Problems) -> Any:
    """One table, or a list of them."""
    hooks: tuple[Hook, ...]
    places: list[Keys]
    if isinstance(value, dict):
        found = read_record(Hook, value, at, problems)
        hooks, places, tables = (() if found is None else (found,)), [at], [value]
    else:
        hooks = _LIST(value, at, problems)
        if hooks is INVALID:
            return INVALID
        places, tables = [(*at, index) for index in range(len(hooks))], value
    for hook, place, table in zip(hooks, places, tables, strict=False):
        _check_hook(hook, table, place, problems)
    return tuple(hooks)


def _check_hook(hook: Hook, table: Mapping[str, Any], at: Keys, problems: Problems) -> None:
    if (hook.command is None) == (hook.url is None):
        problems.append(Problem(at, "a hook has either a `command` or a `url`"))
        return
    for key in _OF_URL if hook.command is not None else ("env",):
        if key in table:
            message = f"`{key}` has no effect: it is for hooks with a `{_kind_for(key)}`"
            problems.append(Problem((*at, key), message, "remove it", on_key=True))
    if hook.url is not None and not _is_address(hook.url):
        message = "`url` is not an address of the form `https://host/path`"
        problems.append(Problem((*at, "url"), message))
    if "\0" in (hook.command or ""):
        problems.append(Problem((*at, "command"), "`command` holds a character that ends texts"))
    for name in hook.env:
        if not _VARIABLE.fullmatch(name):
            problems.append(Problem((*at, "env", name), "this is no name of a variable"))
    if hook.timeout_seconds > _LONGEST_SECONDS:
        message = f"`timeout_seconds` is at most {_LONGEST_SECONDS}"
        problems.append(Problem((*at, "timeout_seconds"), message))
    _check_secrets(hook, at, problems)
    if (hook.format == "pagerduty") != (hook.routing_key is not None):
        message = '`routing_key` and `format = "pagerduty"` go together'
        problems.append(Problem((*at, "format"), message))


def _check_secrets(hook: Hook, at: Keys, problems: Problems) -> None:
    for key in ("secret", "routing_key"):
        value = getattr(hook, key)
        if value is None or isinstance(value, Unset):
            continue
        if not _REFERENCE.fullmatch(written(value)):
            message = f"`{key}` is a secret, and this file is in git"
            problems.append(Problem((*at, key), message, f'write `{key} = "${{NAME}}"`'))
        elif not value:
            problems.append(Problem((*at, key), f"`{key}` is empty: anybody could sign with it"))


def _is_address(url: str) -> bool:
    if isinstance(url, Unset):
        return True
    try:
        parts = urlsplit(url)
        named = bool(parts.hostname) and (parts.port is None or parts.port > 0)
    except ValueError:
        return False
    return named and parts.scheme in ("http", "https") and not _UNFIT.search(url)


def _kind_for(key: str) -> str:
    return "url" if key in _OF_URL else "command"


HookList = Annotated[tuple[Hook, ...], ReadBy(_read_hooks)]


class Hooks(NamedTuple):
    """What is called, by event."""

    on_run_start: HookList = ()
    on_run_success: HookList = ()
    on_run_failure: HookList = ()
    on_model_failure: HookList = ()
    on_check_failure: HookList = ()
    on_anomaly: HookList = ()
    on_budget: HookList = ()
    on_drift: HookList = ()


NO_HOOKS: Final = Hooks()
