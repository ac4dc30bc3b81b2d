"""The checks of `rocky doctor`: settings, warehouses, pipelines, Java, Spark and the state.

Each takes the subject and yields findings. Looking loads no pyspark.
"""

import os
import uuid
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, Final

from rocky.diagnostics import Severity
from rocky.errors import LedgerLocked, RockyError
from rocky.lazy import load_attribute
from rocky.ledger import SCHEMA_VERSION, open_history_reader
from rocky.ledger.claims import living_runs
from rocky.ledger.database import find_version
from rocky.operations.doctor.findings import Diagnosis, Subject, critical, healthy, warning, worst
from rocky.project import Project
from rocky.project.configuration.blocks import Adapter, State
from rocky.project.configuration.pipelines import LoadPipeline, PipelineSetting, ReplicationPipeline
from rocky.project.toml.variables import written
from rocky.spark.java import choose_java
from rocky.state.probe import Probe, probe_rw, probe_sync
from rocky.store.location import locate
from rocky.store.objects import Objects, open_objects
from rocky.store.warehouse import RESERVED, open_warehouse

_VALIDATE: Final = "`rocky validate` shows them"


def check_config(patient: Subject) -> Diagnosis:
    """`rocky.toml` can be read, and means what it says."""
    project = patient.require_project()
    errors = [each for each in project.diagnostics if each.severity is Severity.ERROR]
    here = [each for each in errors if each.path == project.config_path]
    if here:
        return critical(f"{here[0].message} (`{project.config_path}`)", _VALIDATE)
    if errors:
        return warning(f"{len(errors)} errors in files of the project", _VALIDATE)
    return healthy(f"`{project.config_path}` can be read")


def check_adapters(patient: Subject) -> Diagnosis:
    """Where each adapter keeps its tables can be reached and written. Nothing is left there."""
    project = patient.require_project()
    found = [
        _named(f"adapter `{name}`", _check_adapter(project, adapter, patient))
        for name, adapter in project.config.adapter.items()
    ]
    places = ", ".join(sorted({each.warehouse for each in project.config.adapter.values()}))
    return worst(found, f"`{places}` can be written")


def check_pipelines(patient: Subject) -> Diagnosis:
    """Each pipeline has an adapter to write with, and what it reads is there."""
    project = patient.require_project()
    pipelines = project.config.pipeline
    if not pipelines:
        return warning("no pipeline is set up", "write a `[pipeline.NAME]` into `rocky.toml`")
    found = [
        _named(f"pipeline `{name}`", each)
        for name, pipeline in pipelines.items()
        for each in _check_pipeline(project, pipeline, patient)
    ]
    have = "1 pipeline has what it needs"
    if len(pipelines) > 1:
        have = f"{len(pipelines)} pipelines have what they need"
    return worst(found, have)


def _named(what: str, found: Diagnosis) -> Diagnosis:
    return found._replace(message=f"{what}: {found.message}")


def _check_adapter(project: Project, adapter: Adapter, patient: Subject) -> Diagnosis:
    if adapter.master and adapter.remote:
        return critical("it has both `master` and `remote`", "keep the one that models run on")
    options = {**patient.environment, **adapter.conf}
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
    """Looks without touching: a folder that is not there yet is made by the first run."""
    there = folder
    while not there.exists() and there != there.parent:
        there = there.parent
    if not there.is_dir():
        return critical(f"`{there}` is no folder", "name another `warehouse`")
    if not os.access(there, os.R_OK | os.W_OK | os.X_OK):
        return critical(f"`{there}` cannot be written", "give yourself the right to write there")
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
    project: Project, pipeline: PipelineSetting, patient: Subject
) -> Iterator[Diagnosis]:
    adapters = project.config.adapter
    name = pipeline.target.adapter
    if name not in adapters and not (name == "default" and len(adapters) == 1):
        known = ", ".join(f"`{each}`" for each in adapters)
        yield critical(f"no adapter `{name}`", f"adapters: {known}")
        return
    options = {**patient.environment, **adapters.get(name, next(iter(adapters.values()))).conf}
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


_INSTALL: Final = "install it: `pip install 'rocky-spark[spark]'`"


def check_java(patient: Subject) -> Diagnosis:
    """A Java that Spark can run on, unless Spark runs elsewhere."""
    adapters = _adapters_of(patient)
    if adapters and all(each.remote for each in adapters):
        return healthy("not needed: Spark runs elsewhere")
    try:
        java = choose_java(patient.environment)
    except RockyError as error:
        said, _, fix = str(error).partition("; ")
        return critical(said, fix)
    return healthy(f"Java {java.full} (`{java.program}`)")


def check_spark(patient: Subject) -> Diagnosis:
    """The Spark that is installed; asked for by name, it is also started."""
    try:
        installed = version("pyspark")
    except PackageNotFoundError:
        return critical("pyspark is not installed", _INSTALL)
    if not patient.start_spark:
        return healthy(f"pyspark {installed} is installed; `--check spark` also starts it")
    project = patient.require_project()
    found = [_start(adapter, project.root) for adapter in _adapters_of(patient)]
    if not found:
        return warning("no adapter says where Spark is", "write an `[adapter]` into `rocky.toml`")
    return healthy(", ".join(found))


def _start(adapter: Adapter, root: Any) -> str:
    """What a Spark says of itself. Raises SparkUnavailable, AdapterUnusable."""
    connection = load_attribute("rocky.spark.session", "connect_spark")(adapter, root)
    try:
        return f"Spark {connection.session.version} at `{adapter.remote or adapter.master}` started"
    finally:
        connection.close()


def _adapters_of(patient: Subject) -> list[Adapter]:
    return [] if patient.project is None else list(patient.project.config.adapter.values())


_BACKEND = "look at `[state]` in `rocky.toml`, at the credentials in the environment, and at the"


def check_state(patient: Subject) -> Diagnosis:
    """The local file: it opens, and what runs go on from can be read."""
    path = patient.require_state_path()
    try:
        reader = open_history_reader(path)
        if reader is None:
            return healthy(f"no state yet: `{path}` is made by the first run")
        with reader:
            totals, marks = reader.totals(), reader.watermarks()
        living = living_runs(path)
    except LedgerLocked as locked:
        return warning(str(locked), "ask again when it has ended")
    said = f"`{path}` has {totals.runs} runs and {len(marks)} watermarks"
    if living:
        said += f"; run `{living[0].run_id}` is going on (process {living[0].process})"
    return healthy(said)


def check_state_schema(patient: Subject) -> Diagnosis:
    """The version of the local file's tables."""
    path = patient.require_state_path()
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


def check_state_sync(patient: Subject) -> Diagnosis:
    """Whether the state elsewhere can be read, and how the local file stands to it."""
    state, path = _state_of(patient), patient.require_state_path()
    return _of_probe(probe_sync(state, path, patient.environment), "server")


def check_state_rw(patient: Subject) -> Diagnosis:
    """Whether the state can be written where it is kept."""
    state, path = _state_of(patient), patient.require_state_path()
    if state.backend != "local":
        return _of_probe(probe_rw(state, path, patient.environment), "rights to write there")
    return _try_folder(path)


def _state_of(patient: Subject) -> State:
    return patient.require_project().config.state


def _of_probe(probe: Probe, place: str) -> Diagnosis:
    return (
        healthy(probe.message) if probe.passed else critical(probe.message, f"{_BACKEND} {place}")
    )


def _try_folder(path: Path) -> Diagnosis:
    """A file made and removed beside the state: SQLite needs to make some there too."""
    probe = path.with_name(f"{path.name}.probe-{uuid.uuid4().hex}")
    try:
        probe.write_bytes(b"rocky")
        probe.unlink()
    except OSError as failure:
        probe.unlink(missing_ok=True)
        return critical(
            f"cannot write in `{path.parent}`: {(failure.strerror or str(failure)).lower()}",
            "give yourself the right to write there, or name another file with `--state-path`",
        )
    if path.exists() and not os.access(path, os.R_OK | os.W_OK):
        return critical(f"`{path}` cannot be written", "give yourself the right to write it")
    return healthy(f"`{path.parent}` can be written")
