"""Arguments from Python: what callers may pass, and the same as requests have it."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypedDict

if TYPE_CHECKING:
    from rocky.plan.request import RunRequest, Window

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


def run_request(select: tuple[str, ...], options: RunOptions) -> "RunRequest":
    """The options of a run."""
    # `import rocky` stays cheap.
    from rocky.plan.request import RunRequest  # noqa: PLC0415

    given: dict[str, Any] = dict(options)
    for name in ("exclude", "filters"):
        given[name] = names_of(given.get(name, ()))
    return RunRequest(select, **given)


def names_of(given: Names) -> tuple[str, ...]:
    """The names that were given; one is not its letters."""
    return (given,) if isinstance(given, str) else tuple(given)


def paths_of(given: Paths) -> tuple[Path, ...]:
    """The paths that were given."""
    return (Path(given),) if isinstance(given, str | Path) else tuple(map(Path, given))


def path_of(given: str | Path | None) -> Path | None:
    """The path that was given, if one was."""
    return None if given is None else Path(given)
