"""Checks of the project: its settings, where its tables go, and where its pipelines read."""

import os
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from rocky.diagnostics import Severity
from rocky.doctor.patient import Patient
from rocky.doctor.results import Diagnosis, critical, healthy, warning, worst
from rocky.errors import RockyError
from rocky.project import Project
from rocky.project.adapter import Adapter
from rocky.project.pipelines import LoadPipeline, PipelineSetting, ReplicationPipeline
from rocky.project.variables import written
from rocky.store.locations import locate
from rocky.store.objects import Objects, open_objects
from rocky.store.warehouse import RESERVED, open_warehouse

_VALIDATE: Final = "`rocky validate` shows them"


def check_config(patient: Patient) -> Diagnosis:
    """`rocky.toml` can be read, and means what it says."""
    project = patient.require_project()
    errors = [each for each in project.diagnostics if each.severity is Severity.ERROR]
    here = [each for each in errors if each.path == project.config_path]
    if here:
        return critical(f"{here[0].message} (`{project.config_path}`)", _VALIDATE)
    if errors:
        return warning(f"{len(errors)} errors in files of the project", _VALIDATE)
    return healthy(f"`{project.config_path}` can be read")


def check_adapters(patient: Patient) -> Diagnosis:
    """Where each adapter keeps its tables can be reached and written. Nothing is left there."""
    project = patient.require_project()
    found = [
        _named(f"adapter `{name}`", _check_adapter(project, adapter, patient))
        for name, adapter in project.config.adapter.items()
    ]
    places = ", ".join(sorted({each.warehouse for each in project.config.adapter.values()}))
    return worst(found, f"`{places}` can be written")


def check_pipelines(patient: Patient) -> Diagnosis:
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


def _check_adapter(project: Project, adapter: Adapter, patient: Patient) -> Diagnosis:
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
    project: Project, pipeline: PipelineSetting, patient: Patient
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
