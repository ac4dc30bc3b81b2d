"""Where a load works: the pipeline, its project, and what is opened for the run. Values only."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime

from rocky.pipelines.generated import GeneratedModel
from rocky.pipelines.owners import NOBODY, Owners
from rocky.project import Project
from rocky.project.contracts import Contract
from rocky.project.pipelines import LoadPipeline
from rocky.run.engine import Engine
from rocky.run.notes import StepNotes
from rocky.run.sources import Sources
from rocky.store.warehouse import Warehouse


@dataclass(frozen=True, slots=True)
class LoadGround:
    """A load pipeline and where it works. `open_engine` starts Spark when it is first called.

    `whole` when a full refresh was asked for; `done` are tables that a run which is resumed has
    loaded, by key, with why they are left alone. Tables of the `owners` are not to be touched.
    """

    name: str
    pipeline: LoadPipeline
    project: Project
    warehouse: Warehouse
    sources: Sources
    open_engine: Callable[[], Engine]
    now: datetime
    contract: Contract | None = None
    whole: bool = False
    done: Mapping[str, str] = field(default_factory=dict)
    owners: Owners = NOBODY

    @property
    def replaces(self) -> bool:
        """Whether tables are made what the folder holds, whatever they hold now."""
        return self.whole or self.pipeline.options.truncate_first


@dataclass(frozen=True, slots=True)
class Load:
    """One table to load, as a generated model and what is noted of it."""

    model: GeneratedModel
    notes: StepNotes
