"""Arguments from Python: what callers may pass, and the same as requests have it.

A message names commands and options as the command line has them, because both ways in raise the
same; whoever calls from Python is told the calls and arguments instead.
"""

from collections.abc import Callable, Iterable, Sequence
from functools import wraps
from inspect import isfunction
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypedDict, TypeVar

from rocky.errors import InvalidRequest, RockyError

if TYPE_CHECKING:
    from rocky.plan.request import RunRequest, Window

Kind = TypeVar("Kind", bound=type)
Names = str | Sequence[str]
Paths = str | Path | Sequence[str | Path]


class RunOptions(TypedDict, total=False):
    """What can be said of a run besides what to build: the other fields of `rocky.RunRequest`."""

    exclude: Names
    pipeline: str | None
    parallel: int | None
    full_refresh: bool
    rebuild: bool
    reuse: bool
    adapter: str | None
    window: "Window"
    filters: Names
    resume: str | None
    idempotency_key: str | None
    test: bool
    start_anew: bool
    force: bool
    keep_going: bool


def run_request(select: tuple[str, ...], options: RunOptions) -> "RunRequest":
    """The options of a run."""
    # `import rocky` stays cheap.
    from rocky.plan.request import RunRequest  # noqa: PLC0415

    given: dict[str, Any] = dict(options)
    for name in ("exclude", "filters"):
        given[name] = names_of(given.get(name, ()))
    unknown = next((name for name in given if name not in RunOptions.__annotations__), None)
    if unknown is not None:
        raise InvalidRequest(_unknown_option(unknown))
    return RunRequest(select, **given)


def _unknown_option(name: str) -> str:
    from rocky.api.hints import argument_of  # noqa: PLC0415 - as above
    from rocky.diagnostics.suggestion import suggestion  # noqa: PLC0415

    if name == "select":
        return "selectors are given one by one: `run('a', 'b')`"
    option = name.replace("_", "-")
    otherwise = argument_of(option) if argument_of(option) != f"{name}=" else None
    known = sorted(RunOptions.__annotations__)
    hint = f"it is `{otherwise}`" if otherwise else suggestion(name, known)
    return f"no option `{name}`; {hint or 'there are ' + ', '.join(known)}"


def names_of(given: Names) -> tuple[str, ...]:
    """The names that were given; one is not its letters."""
    return tuple(_several(given))


def paths_of(given: Paths) -> tuple[Path, ...]:
    """The paths that were given."""
    return tuple(map(path_of, _several(given)))


def _several(given: Any) -> Iterable[Any]:
    return given if isinstance(given, Iterable) and not isinstance(given, str) else (given,)


def path_of(given: Any) -> Any:
    """The path that a text says, if one was given; what is neither is for the request to refuse."""
    return Path(given) if isinstance(given, str) else given


def name_arguments(kind: Kind) -> Kind:
    """A class whose methods raise errors that name calls and arguments, no commands and options."""
    for name, method in list(vars(kind).items()):
        if isfunction(method) and not name.startswith("_"):
            setattr(kind, name, _naming(method))
    return kind


def _naming(method: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(method)
    def call(*given: Any, **named: Any) -> Any:
        try:
            return method(*given, **named)
        except RockyError as error:
            _speak_python(error)
            raise

    return call


def _speak_python(error: RockyError) -> None:
    """Have an error name calls and arguments instead of commands and options."""
    # Only who is refused pays for it.
    from rocky.api.hints import in_python  # noqa: PLC0415

    said = str(error)
    told = in_python(said)
    if told == said:
        return
    if error.args[:1] == (said,):
        error.args = (told, *error.args[1:])
    else:
        error.add_note(f"from Python: {told}")
