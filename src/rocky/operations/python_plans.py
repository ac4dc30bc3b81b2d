"""Who may have the code of Python models run, and the plans that a compile is handed for it.

A command that a person gives to compile or to run builds the plans that are not known yet. What
judges somebody else's change (`ci` and its kind) does so only where its environment asks for it: no
file will do, because the change has those. An editor does where whoever started it vouches for the
folder. All that only reads has the plans that were built before, and runs nothing.
"""

import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Final, Literal

from rocky.analysis.compilation import NO_RECORDS, Compilation, Record
from rocky.analysis.python_plans import NO_PLANS, Plans
from rocky.compiler.passes import compile_project
from rocky.errors import InvalidRequest
from rocky.project import Project

Asker = Literal["person", "reader", "by name"]
"""Who wants to know: somebody who compiles or runs, what only reads, or who asks for plans."""

ASKED: Final = "ROCKY_ANALYSE"
"""The variable by which the build that judges a change has its code run."""

_MOST_JOBS: Final = 4
SECONDS: Final = 30
"""How long a model may take to build its plan; one that only builds a plan needs a hundredth."""


def may_build(project: Project, asker: Asker) -> bool:
    """Whether the code of Python models may be run for somebody."""
    allowed = project.config.python.analyse != "never"
    return asker == "by name" or (allowed and asker == "person")


def judge(environment: Mapping[str, str]) -> Asker:
    """For whom a change is compiled that is to be judged. Raises InvalidRequest."""
    asked = environment.get(ASKED, "")
    if asked not in ("", "always"):
        raise InvalidRequest(f"`{ASKED}` is `{asked}`: it is `always`, or not set")
    return "person" if asked else "reader"


@contextmanager
def open_plans(
    project: Project,
    asker: Asker,
    *,
    cache: bool = True,
    place: Path | None = None,
    seconds: float | None = None,
) -> Iterator[Plans]:
    """The plans of a project's Python models, for as long as it is compiled.

    `place` is the project under whose name they are kept, where that is another. A model may take
    so many `seconds`.
    """
    plans = _plans(project, asker, cache=cache, place=place, seconds=seconds)
    try:
        yield plans
    finally:
        close = getattr(plans, "close", None)
        if close is not None:
            close()


def _plans(
    project: Project,
    asker: Asker,
    *,
    cache: bool,
    place: Path | None,
    seconds: float | None = None,
    meanwhile: Callable[[], None] | None = None,
    frames: bool = False,
) -> Plans:
    off = project.config.python.analyse == "never" and asker != "by name"
    if off or not has_python(project):
        return NO_PLANS
    # A project without Python models shall not wait for it.
    from rocky.frames.plan_source import ProjectPlans  # noqa: PLC0415

    return ProjectPlans(
        project.root,
        builds=may_build(project, asker),
        place=(place or project.root) if cache else None,
        seconds=seconds or SECONDS,
        jobs=plan_jobs(),
        meanwhile=meanwhile,
        frames=frames,
    )


def has_python(project: Project) -> bool:
    return any(each.is_python for each in project.models.values())


def compile_analysed(
    project: Project,
    asker: Asker,
    *,
    jobs: int | None = None,
    cache: bool = True,
    known: Mapping[str, Record] = NO_RECORDS,
    portability: bool = False,
    place: Path | None = None,
) -> Compilation:
    """Compile a project with the plans that somebody may have; all else as `compile_project`.

    With a `place`, plans are those kept for the project there, whatever `cache` says.
    """
    with open_plans(project, asker, cache=cache or place is not None, place=place) as plans:
        return compile_project(
            project, jobs=jobs, cache=cache, known=known, portability=portability, plans=plans
        )


def plans_of_session(
    asker: Asker, meanwhile: Callable[[], None] | None = None
) -> Callable[[Project], Plans]:
    """The plans of a project that stays open, which is loaded again and again.

    `meanwhile` is called every now and then while a plan is waited for.
    """
    kept: list[tuple[tuple[Path, bool], Plans]] = []

    def plans(project: Project) -> Plans:
        builds = may_build(project, asker)
        for place, found in kept:
            if place == (project.root, builds) and project.config.python.analyse != "never":
                # What was built while texts were typed is asked for again at once.
                return found
        found = _plans(project, asker, cache=True, place=None, meanwhile=meanwhile, frames=True)
        if found is not NO_PLANS:
            kept.append(((project.root, builds), found))
        return found

    return plans


def plan_jobs() -> int:
    """How many processes may build plans at once."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else 1
    return min(cores, _MOST_JOBS)
