"""Generated models: the tables of a pipeline as a project that no file on disk describes.

What a pipeline writes is compiled and run like any model, so that types, claims, retries, records,
proofs and replay hold for it too. A generated model is called by the full name of its target, and
what it reads by a name that no model can have.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Final

from blake3 import blake3

from rocky.analysis.compilation import Compilation
from rocky.analysis.masks.copies import ColumnSaid, CopiedTables, CopyTags
from rocky.compiler.passes import compile_project
from rocky.diagnostics import Severity
from rocky.language.datatypes.types import StructField
from rocky.language.names import quote_name
from rocky.pipelines.drift.projection import read_type
from rocky.plan.steps import RunPlan, plan_steps
from rocky.project import ModelFile, Project
from rocky.project.configuration.config import Config
from rocky.project.configuration.masks import Masks
from rocky.project.configuration.model import ModelSettings, TargetSetting
from rocky.project.configuration.pipelines import TransformationPipeline
from rocky.project.configuration.strategies import Strategy
from rocky.project.inheritance import Inherited
from rocky.project.models import Target
from rocky.project.project import ProjectTexts, mask_strategies
from rocky.project.sources import SourceTable
from rocky.project.toml.documents import Document
from rocky.run.reuse.history import GENERATED

_ONE_PROCESS: Final = 1
"""Generated queries are short: worker processes would cost more than they save."""


@dataclass(frozen=True, slots=True)
class GeneratedSource:
    """What a generated model reads. `name` is what a user calls it, in one to three parts.

    `files` are those below `path` that are read, if not all of them.
    """

    name: str
    columns: tuple[StructField, ...]
    format: str
    path: str | None = None
    options: Mapping[str, str] = field(default_factory=dict, repr=False)
    files: tuple[str, ...] = ()
    classification: ColumnSaid = field(default_factory=dict)

    @property
    def declared_name(self) -> str:
        """The name it is declared by: no target of a model can be called so."""
        first, *rest = self.name.split(".")
        return ".".join((f"{GENERATED}{first}", *rest))

    @property
    def sql_name(self) -> str:
        """The name as a query writes it."""
        return ".".join(quote_name(part) for part in self.declared_name.split("."))

    def declare(self, document: Document) -> SourceTable:
        """It as a source of a project; `document` is what messages say declares it."""
        return SourceTable(
            self.declared_name,
            self.columns,
            self.format,
            self.path,
            self.options,
            document,
            0,
            classification=self.classification,
            files=self.files,
        )


@dataclass(frozen=True, slots=True)
class GeneratedModel:
    """One table to write: a query over generated sources, and how the table takes its rows.

    `columns` are the names it will have, `said` the tags that are declared of what is copied, and
    `base` is the table of the warehouse that it is made from, where it is.
    """

    target: Target
    sql: str
    strategy: Strategy
    sources: tuple[GeneratedSource, ...]
    tags: Mapping[str, str] = field(default_factory=dict)
    depends_on: tuple[str, ...] = ()
    columns: tuple[str, ...] = ()
    said: ColumnSaid = field(default_factory=dict)
    base: Target | None = None

    @property
    def key(self) -> str:
        """The key of its model and its step, and of all that the ledger keeps of it."""
        return self.target.key


def plan_generated(known: CopiedTables, pipeline: str, models: Iterable[GeneratedModel]) -> RunPlan:
    """The plan that brings generated models up to date, in the place of the project's own."""
    generated = generate_project(known, pipeline, models)
    return plan_steps(compile_generated(generated), generated.models)


def find_errors(plan: RunPlan) -> dict[str, str]:
    """The first error of each generated model that does not compile, by its key."""
    found: dict[str, str] = {}
    for each in plan.compilation.diagnostics:
        if each.severity is Severity.ERROR and each.model is not None:
            found.setdefault(each.model.lower(), each.message)
    return found


def compile_generated(project: Project) -> Compilation:
    """Compile a generated project; there is nothing on disk to remember it by."""
    return compile_project(project, jobs=_ONE_PROCESS, cache=False)


def generate_project(
    known: CopiedTables, pipeline: str, models: Iterable[GeneratedModel]
) -> Project:
    """A project of generated models, with the settings of the one on disk.

    Their columns have the tags that the project gives them: so they are masked, allowed and told of
    in the log as those of any model.
    """
    project = known.project
    document = Document(project.config_path, "", {})
    files: dict[str, ModelFile] = {}
    sources: dict[str, SourceTable] = {}
    written: dict[str, str] = {}
    for model in models:
        tags = known.tags(pipeline, model.target, model.columns, model.said, model.base)
        made = _model_file(project, pipeline, model, tags)
        files[made.key] = made
        for source in model.sources:
            declared = _classified(source, tags).declare(document)
            sources.setdefault(declared.key, declared)
            if tags.masked:
                # Somebody of the project: whoever it is, its values are masked.
                written[declared.key] = GENERATED
    return replace(
        project,
        config=_config(project, pipeline, files.values()),
        models=files,
        sources=sources,
        seeds={},
        contracts={},
        diagnostics=(),
        texts=ProjectTexts(str(project.root), {each.path: each for each in files.values()}),
        blocked=frozenset(),
        variables=frozenset(),
        writers=written,
        open_targets=(),
        twins={},
    )


def _classified(source: GeneratedSource, tags: CopyTags) -> GeneratedSource:
    """What is read, with the tags that it has itself.

    Where a column is tagged, its type is the one that a copy has: a mask need not fit a VARCHAR.
    """
    if not tags.columns:
        return source
    tagged = {name.lower() for name in tags.columns}
    tagged |= {name.partition(".")[0] for name in tagged}
    columns = tuple(
        StructField(each.name, read_type(each.type), each.nullable)
        if each.name.lower() in tagged
        else each
        for each in source.columns
    )
    return replace(source, columns=columns, classification=tags.above)


def _config(project: Project, pipeline: str, models: Iterable[ModelFile]) -> Config:
    """The project's settings, with as many tries for a table as the pipeline says.

    Of the masks only those stay that some column has a tag for: the others are for other tables.
    They hold in the table itself, whatever level the project's own models have.
    """
    config = project.config
    used = {tag for each in models for tags in each.classification.values() for tag in tags}
    masks = {tag: each for tag, each in mask_strategies(project).items() if tag in used}
    governance = config.governance._replace(enforce="write", env={})
    config = config._replace(mask=Masks(masks), governance=governance)
    own = config.pipeline.get(pipeline)
    if own is None or isinstance(own, TransformationPipeline):
        return config
    tries = own.execution.table_retries
    return config._replace(resilience=config.resilience._replace(transient_max_retries=tries))


def _model_file(
    project: Project, pipeline: str, model: GeneratedModel, tags: CopyTags
) -> ModelFile:
    target, own = model.target, project.config.pipeline.get(pipeline)
    settings = ModelSettings(
        name=target.full_name,
        depends_on=model.depends_on,
        strategy=model.strategy,
        target=TargetSetting(*target),
        tags=dict(model.tags),
        owner=own.owner if own is not None else None,
        classification=tags.columns,
    )
    said = repr(settings).encode("utf-8", "surrogatepass")
    inherited = Inherited(str(project.root), pipeline, settings, target.catalog, target.schema, b"")
    hashes = (
        blake3(model.sql.encode("utf-8", "surrogatepass")).digest(),
        blake3(said).digest(),
    )
    path = f"pipeline {pipeline}/{target.full_name}.sql"
    return ModelFile.loaded(path, model.sql, 0, settings, None, inherited, hashes)
