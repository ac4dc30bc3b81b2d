"""The checks of `rocky doctor`: settings, warehouses, pipelines, Java, Spark and the state.

Each takes the subject, a project as it was found, and says how it stands. A check that could not
look is never healthy. Looking loads no pyspark.
"""

import uuid
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Final, NamedTuple

from rocky.diagnostics import Severity
from rocky.errors import (
    LedgerLocked,
    NothingSelected,
    ProjectNotFound,
    RockyError,
    advise_on_write,
)
from rocky.ledger import SCHEMA_VERSION, open_history_reader
from rocky.ledger.claims import living_runs
from rocky.ledger.database import find_version
from rocky.plan.adapters import pipeline_adapter
from rocky.project import Project
from rocky.project.configuration.blocks import Adapter, State
from rocky.project.configuration.pipelines import LoadPipeline, PipelineSetting, ReplicationPipeline
from rocky.project.toml.variables import written
from rocky.project.user_cache import cache_place, is_writable
from rocky.project.writable_folder import open_problem, write_problem
from rocky.state.probe import Probe, probe_rw, probe_sync
from rocky.store.location import locate
from rocky.store.objects import Objects, open_objects
from rocky.store.warehouse import RESERVED, open_warehouse

_VALIDATE: Final = "`rocky validate` shows them"
_CACHE_FIX: Final = (
    "set XDG_CACHE_HOME to a folder of yours outside the repository, or leave it: every compile"
    " starts anew"
)


class Health(StrEnum):
    """How it stands; from good to bad."""

    HEALTHY = "healthy"
    WARNING = "warning"
    CRITICAL = "critical"


class Diagnosis(NamedTuple):
    """What a check says: a sentence, what to do about it unless all is well, and lines of more."""

    health: Health
    message: str
    fix: str | None = None
    details: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Subject:
    """What is looked at. `project` is None when it could not be loaded, and `failure` says why.

    `start_spark` is True when Spark was asked for by name: starting it takes a while.
    """

    state_path: Path | None
    environment: Mapping[str, str]
    project: Project | None = None
    failure: RockyError | None = None
    start_spark: bool = False

    def require_project(self) -> Project:
        """The project. Raises what kept it from being loaded."""
        if self.project is not None:
            return self.project
        raise self.failure or ProjectNotFound("there is no project here")

    def require_state_path(self) -> Path:
        """Where the state file is, or would be. Raises ProjectNotFound."""
        if self.state_path is None:
            raise self.failure or ProjectNotFound("there is no project here, so no state file")
        return self.state_path


def healthy(message: str) -> Diagnosis:
    return Diagnosis(Health.HEALTHY, message)


def warning(message: str, fix: str) -> Diagnosis:
    return Diagnosis(Health.WARNING, message, fix)


def critical(message: str, fix: str) -> Diagnosis:
    return Diagnosis(Health.CRITICAL, message, fix)


def worst_of(found: Sequence[Diagnosis], well: str) -> Diagnosis:
    """One for several: the worst speaks, and says how many others are not well."""
    order = list(Health)
    unwell = sorted(
        (each for each in found if each.health is not Health.HEALTHY),
        key=lambda each: -order.index(each.health),
    )
    if not unwell:
        return healthy(well)
    first, more = unwell[0], len(unwell) - 1
    return first._replace(message=f"{first.message} (and {more} more)") if more else first


def check_config(subject: Subject) -> Diagnosis:
    """`rocky.toml` can be read, and means what it says."""
    project = subject.require_project()
    errors = [each for each in project.diagnostics if each.severity is Severity.ERROR]
    here = [each for each in errors if each.path == project.config_path]
    if here:
        first = here[0]
        line = first.span and project.texts[project.config_path].line_of(first.span.start)
        place = f"{project.config_path}:{line}" if line else project.config_path
        return critical(f"{first.message} (`{place}`)", _VALIDATE)
    if errors:
        return warning(f"{len(errors)} errors in files of the project", _VALIDATE)
    return healthy(f"`{project.config_path}` can be read")


def check_adapters(subject: Subject) -> Diagnosis:
    """Where each adapter keeps its tables can be reached and written. Nothing is left there."""
    project = subject.require_project()
    found = [
        _named(f"adapter `{name}`", _check_adapter(project, adapter, subject))
        for name, adapter in project.config.adapter.items()
    ]
    places = ", ".join(sorted({each.warehouse for each in project.config.adapter.values()}))
    return worst_of(found, f"`{places}` can be written")


def check_pipelines(subject: Subject) -> Diagnosis:
    """Each pipeline has an adapter to write with, and what it reads is there."""
    project = subject.require_project()
    pipelines = project.config.pipeline
    if not pipelines:
        return warning("no pipeline is set up", "write a `[pipeline.NAME]` into `rocky.toml`")
    found = [
        _named(f"pipeline `{name}`", each)
        for name, pipeline in pipelines.items()
        for each in _check_pipeline(project, pipeline, subject)
    ]
    have = "1 pipeline has what it needs"
    if len(pipelines) > 1:
        have = f"{len(pipelines)} pipelines have what they need"
    return worst_of(found, have)


def _named(what: str, found: Diagnosis) -> Diagnosis:
    return found._replace(message=f"{what}: {found.message}")


def _check_adapter(project: Project, adapter: Adapter, subject: Subject) -> Diagnosis:
    if adapter.master and adapter.remote:
        return critical("it has both `master` and `remote`", "keep the one that models run on")
    options = {**subject.environment, **adapter.conf}
    try:
        warehouse = open_warehouse(adapter.warehouse, base=project.root, options=options)
        local = warehouse.objects.local_path("")
        if local is not None:
            return _check_folder(local)
        _try_objects(warehouse.objects)
    except RockyError as error:
        return critical(str(error), "look at `warehouse` and `conf` of the adapter")
    return healthy(f"`{warehouse.uri}` can be written")


def _check_folder(folder: Path) -> Diagnosis:
    """Tries a file and removes it: a folder that is not there yet is made by the first run."""
    problem = write_problem(folder)
    if isinstance(problem, NotADirectoryError):
        return critical(f"`{problem.filename}` is not a folder", "name another `warehouse`")
    if problem is not None:
        why = (problem.strerror or str(problem)).lower()
        fix = advise_on_write(problem, "make it writable, or name another `warehouse`")
        return critical(f"`{problem.filename}` cannot be written: {why}", fix)
    return healthy(f"`{folder}` can be written")


def _try_objects(objects: Objects) -> None:
    """Write, read and remove an object. Raises StoreUnreadable, StoreUnwritable."""
    path = f"{RESERVED}/doctor-{uuid.uuid4().hex}"
    objects.put(path, b"rocky")
    try:
        objects.read(path)
    finally:
        objects.delete([path])


def _check_pipeline(
    project: Project, pipeline: PipelineSetting, subject: Subject
) -> Iterator[Diagnosis]:
    try:
        adapter = pipeline_adapter(project, pipeline, None)
    except NothingSelected as error:
        message, _, fix = str(error).partition("; ")
        yield critical(message, fix)
        return
    options = {**subject.environment, **adapter.conf}
    if isinstance(pipeline, ReplicationPipeline):
        yield _check_source(project, pipeline, options)
    elif isinstance(pipeline, LoadPipeline):
        yield _check_place(project, pipeline.source_dir, options)


def _check_source(
    project: Project, pipeline: ReplicationPipeline, options: dict[str, str]
) -> Diagnosis:
    source = pipeline.source
    if source.kind == "lake" and source.path is not None:
        return _check_place(project, source.path, options)
    # Spark's catalogue and databases are asked by Spark alone, which is not started for this.
    return healthy(f"its {source.kind} source is asked when it runs")


def _check_place(project: Project, place: str, options: dict[str, str]) -> Diagnosis:
    try:
        objects = open_objects(locate(place, base=project.root, options=options))
        local = objects.local_path("")
        if local is not None and not local.is_dir():
            return critical(
                f"`{written(place)}` is not there", "name the folder that it reads from"
            )
        objects.folders("")
    except RockyError as error:
        said = str(error) if written(place) == place else f"`{written(place)}` cannot be listed"
        return critical(said, "look at the source's place and at the credentials")
    return healthy(f"`{written(place)}` can be listed")


def check_cache(subject: Subject) -> Diagnosis:
    """Where the project's cache is. Without one everything works, and each compile is a first."""
    place = cache_place(subject.require_project().root)
    if place.folder is None:
        return warning(f"there is no cache: {place.reason}", _CACHE_FIX)
    if not is_writable(place):
        return warning(f"there is no cache: `{place.folder}` cannot be written", _CACHE_FIX)
    return healthy(f"in `{place.folder}`")


def adapters_of(subject: Subject) -> list[Adapter]:
    return [] if subject.project is None else list(subject.project.config.adapter.values())


_BACKEND = "look at `[state]` in `rocky.toml`, at the credentials in the environment, and at the"


def check_state(subject: Subject) -> Diagnosis:
    """The local file: it opens, and what runs continue from can be read."""
    path = subject.require_state_path()
    try:
        reader = open_history_reader(path)
        if reader is None:
            return healthy(f"no state yet: `{path}` is made by the first run")
        with reader:
            totals, marks = reader.totals(), reader.watermarks()
        living = living_runs(path)
    except LedgerLocked as locked:
        return warning(str(locked), "try again when it has ended")
    said = f"`{path}` has {totals.runs} runs and {len(marks)} watermarks"
    if living:
        said += f"; run `{living[0].run_id}` is running (process {living[0].process})"
    return healthy(said)


def check_state_schema(subject: Subject) -> Diagnosis:
    """The version of the local file's tables."""
    path = subject.require_state_path()
    version = find_version(path)
    if version is None:
        return healthy(f"no state yet; it will have schema {SCHEMA_VERSION}")
    if version > SCHEMA_VERSION:
        return critical(
            f"`{path}` has schema {version}, and this Rocky knows up to {SCHEMA_VERSION}",
            "upgrade Rocky, or name another file with `--state-path`",
        )
    if version < SCHEMA_VERSION:
        said = f"schema {version}; the next run brings it forward to {SCHEMA_VERSION}"
        return healthy(said)
    return healthy(f"schema {version}")


def check_state_sync(subject: Subject) -> Diagnosis:
    """Whether the remote state can be read, and how the local file stands to it."""
    state, path = _state_of(subject), subject.require_state_path()
    return _of_probe(probe_sync(state, path, subject.environment), "server")


def check_state_rw(subject: Subject) -> Diagnosis:
    """Whether the state can be written where it is kept."""
    state, path = _state_of(subject), subject.require_state_path()
    if state.backend != "local":
        return _of_probe(probe_rw(state, path, subject.environment), "rights to write there")
    return _try_folder(path)


def _state_of(subject: Subject) -> State:
    return subject.require_project().config.state


def _of_probe(probe: Probe, place: str) -> Diagnosis:
    return (
        healthy(probe.message) if probe.passed else critical(probe.message, f"{_BACKEND} {place}")
    )


def _try_folder(path: Path) -> Diagnosis:
    """A file made and removed beside the state: SQLite needs to make some there too."""
    failure = write_problem(path.parent) or open_problem(path)
    if failure is not None:
        return critical(
            f"cannot write in `{path.parent}`: {(failure.strerror or str(failure)).lower()}",
            f"{advise_on_write(failure, 'make it writable')}, or name another file with"
            " `--state-path`",
        )
    return healthy(f"`{path.parent}` can be written")
