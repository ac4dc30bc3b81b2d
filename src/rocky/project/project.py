"""Project: everything on disk that the compiler needs, loaded and validated once; also on a branch.

Mistakes in the files are in `diagnostics`; what could be read is here all the same. A model in
`blocked` exists but has no usable text: it cannot be compiled, and its readers must not be told
that it is unknown. A branch is a place and not a name: models, targets and SQL are what they are in
production, so their hashes are too. Sources that are tables of the warehouse are read from the
branch's own copies; other files that lie there are nobody's copy, and are read where they are.
"""

import posixpath
import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final, NamedTuple

from rocky.diagnostics import Diagnostic
from rocky.diagnostics.diagnostic import SourceText
from rocky.diagnostics.suggestion import suggestion
from rocky.errors import NothingSelected
from rocky.language.dialects.table import Dialect
from rocky.project.check_sql import Expansions
from rocky.project.configuration.blocks import Adapter, State
from rocky.project.configuration.config import Config
from rocky.project.configuration.governance import Level
from rocky.project.configuration.masks import MaskStrategy
from rocky.project.configuration.paths import BRANCH_PREFIX
from rocky.project.contracts import Contract
from rocky.project.files import show_text
from rocky.project.functions import ProjectFunction
from rocky.project.imports import ImportedTable, LoadedImport
from rocky.project.macros import MacroFile
from rocky.project.model_reload import ModelReload, load_again
from rocky.project.models import ModelFile, Target, stem_of
from rocky.project.pipeline_tables import OpenTarget
from rocky.project.schema_cache import CachedSchema, UnusedSchema
from rocky.project.seeds import SeedTable
from rocky.project.sources import SourceTable


class ProjectTexts(Mapping[str, SourceText]):
    """The texts that diagnostics point into, read when asked for."""

    def __init__(self, root: str, models: Mapping[str, ModelFile]) -> None:
        self._root = root
        self._models = models
        self._read: dict[str, SourceText] = {}

    def __getitem__(self, path: str) -> SourceText:
        found = self._read.get(path)
        if found is None:
            model = self._models.get(path)
            # A model that cannot be read has no text of its own to show.
            text = (model and model.text) or show_text(self._root, path)
            found = self._read[path] = SourceText(path, text)
        return found

    def model_at(self, path: str) -> ModelFile | None:
        """The model whose file has this path."""
        return self._models.get(path)

    def with_model(self, model: ModelFile, own: Collection[str | None]) -> "ProjectTexts":
        """The texts with another model in the place of one; `own` are its files."""
        texts = ProjectTexts(self._root, {**self._models, model.path: model})
        texts._read = {path: each for path, each in self._read.items() if path not in own}
        return texts

    def keep(self, texts: Mapping[str, str]) -> None:
        """Show these texts, which nobody saved, in the place of files."""
        self._read |= {path: SourceText(path, text) for path, text in texts.items()}

    def __iter__(self) -> Iterator[str]:
        return iter(self._models)

    def __len__(self) -> int:
        return len(self._models)


class BranchRef(NamedTuple):
    """The branch whose tables are meant, and the adapter whose tables it has, where it is known."""

    name: str
    adapter: str | None = None


@dataclass(frozen=True, slots=True)
class Project:
    """A project on disk. What has names goes by lower-case name: models, sources, functions ...

    `variables` are the names that `@var(...)` asks for in any model. The tables of `imports` are
    among the sources. `check_expansions` are the macros in the SQL of pipelines' checks, by keys.
    With a `branch`, the warehouses are that branch's.

    `writers` are the pipelines that write sources, by these' keys; `open_targets` the schemas to
    which pipelines may write tables that nobody knows yet. `cached_schemas` are what was discovered
    and kept, by lower-case name, and `unused_schemas` the files of these that are not believed. All
    four are empty until an operation looks at them. `env` is the environment whose masks hold.
    `twins` are the models that show others, and seeds, masked, by the keys of both; a compile adds
    them.
    `reload` loads one of the models again.
    """

    root: Path
    config_path: str
    config: Config
    models: dict[str, ModelFile]
    sources: dict[str, SourceTable]
    seeds: dict[str, SeedTable]
    contracts: dict[str, Contract]
    diagnostics: tuple[Diagnostic, ...]
    texts: ProjectTexts
    blocked: frozenset[str]
    config_hash: bytes
    variables: frozenset[str] = frozenset()
    imports: Mapping[str, LoadedImport] = field(default_factory=dict)
    branch: BranchRef | None = None
    macros: Mapping[str, MacroFile] = field(default_factory=dict)
    check_expansions: Expansions = field(default_factory=dict)
    writers: Mapping[str, str] = field(default_factory=dict)
    open_targets: tuple[OpenTarget, ...] = ()
    cached_schemas: Mapping[str, CachedSchema] = field(default_factory=dict)
    unused_schemas: tuple[UnusedSchema, ...] = ()
    functions: Mapping[str, ProjectFunction] = field(default_factory=dict)
    env: str | None = None
    twins: Mapping[str, str] = field(default_factory=dict)
    reload: ModelReload | None = field(default=None, compare=False)

    def __repr__(self) -> str:
        """Where it is and how much it has: all of it would fill a screen, settings included."""
        models, sources, seeds = len(self.models), len(self.sources), len(self.seeds)
        return f"<Project {str(self.root)!r}: {models} models, {sources} sources, {seeds} seeds>"


TWIN: Final = "__masked"
"""What the name of a masked twin has after that of the model or seed it shows."""


def reload_model(project: Project, before: ModelFile, touched: Collection[str]) -> Project | None:
    """The project with a model as its files are now, and all else as it was loaded.

    `touched` are files that are not what they were. None where a change may concern more than the
    model: then the project is to be loaded as a whole.
    """
    reload, key, stem = project.reload, before.key, stem_of(before.path).lower()
    again = None if reload is None else load_again(reload, before, touched)
    if reload is None or again is None:
        return None
    if stem != key and not {stem}.isdisjoint(project.blocked | again.blocked):
        return None
    start = reload.starts[before.path]
    old = {id(each) for each in start.found}
    others = [each for each in project.diagnostics if id(each) not in old]
    own = {before.path, start.sidecar}
    if not again.only_query and any(_is_about(each, own) for each in others):
        # What else was said of it may stand elsewhere now.
        return None
    fresh = start._replace(found=again.found)
    return replace(
        project,
        models={**project.models, key: again.model},
        diagnostics=(*others, *again.found),
        texts=project.texts.with_model(again.model, own),
        blocked=project.blocked - {stem, key} | again.blocked,
        reload=replace(reload, starts={**reload.starts, before.path: fresh}),
    )


def _is_about(found: Diagnostic, files: Collection[str | None]) -> bool:
    return found.path in files or any(label.path in files for label in found.labels)


PREFIX: Final = BRANCH_PREFIX
"""What the folder of a branch, and its schema in a catalogue, begins with."""

_NAME: Final = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,63}")
_S3: Final = re.compile(r"s3[an]?://", re.IGNORECASE)
_FILE: Final = re.compile(r"file:(//(localhost(?=/))?)?(?=/)", re.IGNORECASE)
_LEVELS: Final = 3
"""A table of a warehouse lies in a folder of a schema of a catalog."""


def branch_prefix(name: str) -> str:
    """The namespace of a branch's tables. Raises NothingSelected for what is no name of one."""
    if not _NAME.fullmatch(name) or name.endswith("."):
        raise NothingSelected(
            f"`{name}` cannot be the name of a branch: up to 64 letters, digits, `_`, `.` and `-`,"
            " the first a letter, a digit or `_`"
        )
    return f"{PREFIX}{name}"


def branch_root(warehouse: str, name: str) -> str:
    """Where the tables of a branch lie: below the warehouse it was made of."""
    return f"{warehouse.rstrip('/')}/{branch_prefix(name)}"


def branch_state(state: Path, name: str) -> Path:
    """The state file of a branch, beside the project's own."""
    return state.with_name(f"{state.stem}.{branch_prefix(name)}{state.suffix}")


def for_dialects(project: Project, targets: tuple[Dialect, ...]) -> Project:
    """The project, meant for other engines than `[portability]` says."""
    portability = project.config.portability._replace(targets=targets)
    return replace(project, config=project.config._replace(portability=portability))


def in_environment(project: Project, env: str) -> Project:
    """The project with the masks of an environment. Raises NothingSelected for one without any."""
    known = mask_environments(project)
    if env not in known:
        listed = ", ".join(f"`{each}`" for each in sorted(known)) or "none"
        hint = suggestion(env, known) or f"environments with masks: {listed}"
        raise NothingSelected(f"no environment `{env}`: there is no `[mask.{env}]`; {hint}")
    return replace(project, env=env)


def mask_environments(project: Project) -> list[str]:
    """The environments that the settings say something of, sorted."""
    return sorted({*project.config.mask.environments, *project.config.governance.env})


def twin_key(key: str) -> str:
    """The key of the model that shows another, or a seed, masked."""
    return f"{key}{TWIN}"


def shown_target(project: Project, model: ModelFile) -> Target:
    """The table of a model that others are to read: that of its masked twin, where it has one."""
    twin = twin_key(model.key)
    return project.models[twin].target if twin in project.twins else model.target


def mask_level(project: Project) -> Level:
    """Where masks hold, where the project is."""
    return project.config.governance.level(project.env)


def mask_strategies(project: Project) -> dict[str, MaskStrategy]:
    """The mask of each tag that has one, where the project is: what declares the tag says last."""
    declared = project.config.classifications.tags
    own = {tag: each.mask for tag, each in declared.items() if each.mask is not None}
    return {**own, **project.config.mask.of(project.env)}


def clear_anywhere(project: Project) -> frozenset[str]:
    """The tags whose values may be read by everybody, as somebody decided."""
    decided = (tag for tag, mask in mask_strategies(project).items() if mask.name == "none")
    return frozenset((*decided, *project.config.classifications.allow_unmasked))


def on_branch(project: Project, name: str, adapter: str | None = None) -> Project:
    """The project with its tables on a branch, which has those of one adapter."""
    config = project.config
    adapters = {key: _on_branch(each, name) for key, each in config.adapter.items()}
    sources = {
        key: _source_on_branch(project, source, name) for key, source in project.sources.items()
    }
    state = state_on_branch(config.state, name)
    return replace(
        project,
        config=config._replace(adapter=adapters, state=state),
        sources=sources,
        branch=BranchRef(name, adapter),
    )


def require_branch_adapter(project: Project, adapter: Adapter) -> None:
    """Raises NothingSelected for an adapter whose tables the project's branch has not got."""
    branch = project.branch
    if branch is None or branch.adapter is None:
        return
    own = project.config.adapter.get(branch.adapter)
    # Adapters may share a warehouse, and then the branch has the tables of both.
    if own is None or own.warehouse != adapter.warehouse:
        raise NothingSelected(
            f"branch `{branch.name}` has the tables of `[adapter.{branch.adapter}]` and no other:"
            " select models or a pipeline of that adapter"
        )


def state_on_branch(state: State, name: str) -> State:
    """Where remote state has the state file of a branch: beside production's."""
    prefix = branch_prefix(name)
    return state._replace(
        s3_prefix=f"{state.s3_prefix.rstrip('/')}/{prefix}/",
        valkey_prefix=f"{state.valkey_prefix}{prefix}:",
    )


def _on_branch(adapter: Adapter, name: str) -> Adapter:
    # A catalogue knows one table by a name, and that is production's.
    return adapter._replace(warehouse=branch_root(adapter.warehouse, name), register=False)


def _source_on_branch(project: Project, source: SourceTable, name: str) -> SourceTable:
    """A source that is a table of a warehouse is the branch's own table of that name."""
    if source.path is None or source.format != "delta" or isinstance(source, ImportedTable):
        # A branch has copies of the project's own tables; those of others are where they are.
        return source
    for adapter in project.config.adapter.values():
        below = _below(project.root, adapter.warehouse, source.path)
        if below is not None:
            return replace(source, path=f"{branch_root(adapter.warehouse, name)}/{below}")
    return source


def lies_in_warehouse(project: Project, path: str) -> bool:
    """Whether a place is below a warehouse of the project, so that its own runs may write it."""
    place = _place(project.root, path)
    warehouses = (each.warehouse for each in project.config.adapter.values())
    return any(place.startswith(f"{_place(project.root, each)}/") for each in warehouses)


def _below(root: Path, warehouse: str, path: str) -> str | None:
    """The path of a table below a warehouse; None for what is no table of it."""
    start, place = _place(root, warehouse), _place(root, path)
    if not place.startswith(f"{start}/"):
        return None
    below = place.removeprefix(f"{start}/")
    parts = below.split("/")
    return below if len(parts) == _LEVELS and not parts[0].startswith(PREFIX) else None


def _place(root: Path, path: str) -> str:
    """One spelling of a place, whichever of its names was written."""
    if _S3.match(path):
        bucket, _, key = _S3.sub("", path, count=1).partition("/")
        return f"s3://{posixpath.normpath(f'{bucket}/{key}')}"
    if "://" in path and not _FILE.match(path):
        return path.rstrip("/")
    return (root / _FILE.sub("", path, count=1)).resolve().as_posix()
