"""A request as a plan keeps it: every flag there and back, so that none is dropped on the way.

The fields are those of `RunRequest` and `Window` themselves: a flag that is added to them is kept
without anybody thinking of it here.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any, Final, get_args, get_origin, get_type_hints

from rocky.errors import PlanUnreadable
from rocky.run.build import NO_WINDOW, Window
from rocky.run.request import RunRequest

_FOUND_OUT: Final = frozenset({"recorded"})
"""What no flag says: a run finds it in the ledger."""


@dataclass(frozen=True, slots=True)
class Asked:
    """What was asked for: the request, on which branch, with which values of `@var(...)`."""

    request: RunRequest
    branch: str | None = None
    variables: Mapping[str, str] = field(default_factory=dict)


def asked_document(asked: Asked) -> dict[str, Any]:
    """What was asked for as JSON; what was not said is absent."""
    request = _document(asked.request)
    window = _document(asked.request.window)
    found = {**request, "window": window, "branch": asked.branch, "variables": asked.variables}
    return {name: value for name, value in found.items() if value not in (None, {}, [])}


def parse_asked(document: Any) -> Asked:
    """What was asked for. Raises PlanUnreadable for what this Rocky does not know."""
    rest = dict(document) if isinstance(document, dict) else {"request": document}
    branch, variables = rest.pop("branch", None), rest.pop("variables", {})
    if not isinstance(branch, str | None) or not _is_texts(variables):
        raise PlanUnreadable("the plan's request is not one: make a new plan with `rocky plan`")
    window = Window(**_values(Window, rest.pop("window", {}), "window"))
    values = _values(RunRequest, rest, "request")
    request = RunRequest(**{**values, "window": window if window != Window() else NO_WINDOW})
    return Asked(request, branch, dict(variables))


def _document(value: RunRequest | Window) -> dict[str, Any]:
    found = {
        each.name: getattr(value, each.name)
        for each in fields(value)
        if each.name not in _FOUND_OUT and each.name != "window"
    }
    listed = {name: list(each) if isinstance(each, tuple) else each for name, each in found.items()}
    return {name: each for name, each in listed.items() if each is not None}


def _values(kind: type[RunRequest | Window], document: Any, what: str) -> dict[str, Any]:
    known = {each.name for each in fields(kind)} - _FOUND_OUT - {"window"}
    given = document if isinstance(document, dict) else {what: document}
    values = {
        name: tuple(value) if isinstance(value, list) else value for name, value in given.items()
    }
    hints = get_type_hints(kind)
    for name, value in values.items():
        if name not in known:
            raise PlanUnreadable(
                f"the plan's {what} says `{name}`, which this Rocky does not know: make a new"
                " plan with `rocky plan`"
            )
        if not _fits(value, hints[name]):
            raise PlanUnreadable(
                f"`{name}` in the plan's {what} is no value that a flag can have: make a new plan"
                " with `rocky plan`"
            )
    return values


def _fits(value: Any, hint: Any) -> bool:
    """Whether a value is one that the field can hold."""
    if isinstance(value, tuple):
        return get_origin(hint) is tuple and all(isinstance(each, str) for each in value)
    wanted = get_args(hint) or (hint,)
    # A truth value is a number to Python, and not to us.
    return type(value) in wanted


def _is_texts(value: Any) -> bool:
    return isinstance(value, dict) and all(isinstance(each, str) for each in value.values())
