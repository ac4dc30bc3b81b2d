"""Loading a project: the folder of `rocky.toml` -> `Project`; models folder by folder.

Every file is read once; what is wrong with one is a diagnostic at its line. Defaults flow from a
folder to those below it.
"""

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, NamedTuple

from blake3 import blake3

from rocky.diagnostics import Code, Diagnostic, Severity
from rocky.diagnostics.diagnostic import SourceText
from rocky.diagnostics.suggestion import NameIndex
from rocky.errors import ProjectNotFound
from rocky.project.cache import NO_MODEL_CACHE, ModelCache, load_model_cache, save_model_cache
from rocky.project.check_sql import expand_checks
from rocky.project.checked_sources import report_undeclared_checks
from rocky.project.collisions import (
    declared_sources,
    index_models,
    report_import_clashes,
    report_shadowed,
    report_shared_targets,
    report_unknown_dependencies,
)
from rocky.project.configuration.config import (
    DEFAULT_CONFIG,
    Config,
    ModelPattern,
    folders_to_walk,
    model_patterns,
    read_config,
)
from rocky.project.configuration.model import NO_DEFAULTS, FolderDefaults
from rocky.project.contracts import load_contracts, name_models
from rocky.project.files import Folder, Report, child_path, read_text, scan_folders
from rocky.project.functions import load_functions
from rocky.project.imports import add_imported, check_imports_block, load_imports
from rocky.project.inheritance import Inherited, inherit, inherit_defaults, shared_settings
from rocky.project.macros import is_macro_folder, load_macros
from rocky.project.model_files import LoadContext, load_model
from rocky.project.models import ModelFile
from rocky.project.project import Project, ProjectTexts
from rocky.project.seeds import load_seeds
from rocky.project.sources import load_sources
from rocky.project.toml.documents import Document, Problem, Problems, digest_data, parse_document
from rocky.project.toml.parser import locate_keys
from rocky.project.toml.records import reader_for
from rocky.project.toml.variables import Keys


@dataclass(slots=True)
class ModelsFound:
    """What the walk found so far: models, contract files with the model of their stem."""

    models: list[ModelFile] = field(default_factory=list)
    contracts: list[tuple[str, ModelFile | None]] = field(default_factory=list)
    matched: set[ModelPattern] = field(default_factory=set)
    unmatched: list[ModelPattern] = field(default_factory=list)


@dataclass(slots=True)
class FolderLoader:
    """Loads the folders of one walk, parents first."""

    loading: LoadContext
    patterns: list[ModelPattern]
    memory: ModelCache
    found: ModelsFound = field(default_factory=ModelsFound)
    defaults: dict[str, tuple[FolderDefaults, bytes]] = field(default_factory=dict)
    modules: dict[str, bytes] = field(default_factory=dict)

    def load_folder(self, folder: Folder) -> None:
        """Load the models of one folder; what is wrong with them is reported."""
        stems: dict[str, str] = {}
        python: dict[str, str] = {}
        rocky: dict[str, str] = {}
        sidecars: dict[str, str] = {}
        contracts: list[str] = []
        modules: list[str] = []
        has_defaults = False
        for name in folder.names:
            if name.endswith(".sql") or name.lower().endswith(".sql"):
                stems[name[:-4]] = name
            elif name == "_defaults.toml":
                has_defaults = True
            elif name.endswith(".contract.toml"):
                contracts.append(name)
            elif name.endswith(".toml"):
                sidecars[name[:-5]] = name
            elif name.endswith(".py"):
                # A leading underscore marks what models import: helpers are no models.
                if name.startswith("_"):
                    modules.append(name)
                else:
                    python[name[:-3]] = name
            elif name.endswith(".rocky"):
                rocky[name[:-6]] = name
        inherited = self._folder_defaults(folder.path, has_defaults=has_defaults)
        self._note_modules(folder.path, modules)
        names = [*stems.values(), *rocky.values(), *python.values()]
        models = self._load_models(folder, names, sidecars, inherited)
        for name in contracts:
            stem = name.removesuffix(".contract.toml")
            self.found.contracts.append((child_path(folder.path, name), models.get(stem)))
        for stem in sorted(sidecars.keys() - stems.keys() - rocky.keys() - python.keys()):
            path = child_path(folder.path, sidecars[stem])
            self.loading.report(_lone_sidecar(path, stem, names))

    def _load_models(
        self,
        folder: Folder,
        names: list[str],
        sidecars: Mapping[str, str],
        inherited: tuple[FolderDefaults, bytes],
    ) -> dict[str, ModelFile]:
        bases: dict[ModelPattern, Inherited] = {}
        models: dict[str, ModelFile] = {}
        prefix = folder.path + "/" if folder.path else ""
        stamp_of = folder.stamps.get
        recall = self.memory.recall
        for name in names:
            stem = name[: name.rfind(".")]
            path = prefix + name
            pattern = next((one for one in self.patterns if one.owns(path)), None)
            if pattern is None:
                continue
            base = bases.get(pattern)
            if base is None:
                base = bases[pattern] = inherit(
                    self.loading.root, pattern, *inherited, self.loading.shared
                )
                self.found.matched.add(pattern)
            own = sidecars.get(stem)
            sidecar = prefix + own if own else None
            stamp = stamp_of(name)
            stamps = (stamp, stamp_of(own) if own else None) if stamp else None
            row = recall(path, stamps, base.digest) if stamps else None
            if row:
                model = ModelFile.remembered(path, row, sidecar, base)
            else:
                model = load_model(path, sidecar, stamps, base, self.loading)
            if model.is_python:
                self._add_modules(model, folder.path)
            models[stem] = model
            self.found.models.append(model)
        return models

    def _note_modules(self, folder: str, names: list[str]) -> None:
        """Remember what Python models of a folder may import: its own files and those above."""
        found = self.modules.get(folder.rpartition("/")[0], b"") if folder else b""
        for name in sorted(names):
            try:
                data = Path(self.loading.root, folder, name).read_bytes()
            except OSError:
                # Whoever imports it will say so.
                data = b""
            found += blake3(name.encode("utf-8", "surrogateescape") + b"\0" + data).digest()
        self.modules[folder] = found

    def _add_modules(self, model: ModelFile, folder: str) -> None:
        """Whatever a Python model imports is part of its code."""
        # Its modules are parsed: a project without Python models shall not wait for that.
        from rocky.project.python_imports import find_imports  # noqa: PLC0415

        model.imports = find_imports(Path(self.loading.root), model.path, model.text)
        model.modules = self.modules[folder] + model.imports.digest
        if model.modules:
            model.settings_hash = blake3(model.settings_hash + model.modules).digest()

    def _folder_defaults(self, folder: str, *, has_defaults: bool) -> tuple[FolderDefaults, bytes]:
        merged = self.defaults.get(folder.rpartition("/")[0], (NO_DEFAULTS, b""))
        if has_defaults:
            path = child_path(folder, "_defaults.toml")
            report = self.loading.report
            read = read_text(self.loading.root, path, report)
            document = parse_document(path, read[0], self.loading.env, report) if read else None
            if document:
                problems: Problems = []
                own = reader_for(FolderDefaults)(document.data, (), problems)
                made = inherit_defaults(merged[0], own, self.loading.shared, problems)
                for problem in problems:
                    report(document.diagnose(problem))
                merged = made, merged[1] + digest_data(document)
        self.defaults[folder] = merged
        return merged


def _lone_sidecar(path: str, stem: str, names: Iterable[str]) -> Diagnostic:
    models = {name[: name.rfind(".")]: name for name in names}
    near = NameIndex(models).closest(stem)
    return Diagnostic(
        Code.UNUSABLE_FILE,
        f"the sidecar `{path}` has no model `{stem}.sql` beside it",
        None,
        path,
        help=f"did you mean `{models[near]}`?" if near else "name the sidecar like its model",
    )


CONFIG_NAME: Final = "rocky.toml"
NO_VARIABLES: Final[Mapping[str, str]] = {}


def load_project(
    root: Path,
    *,
    env: Mapping[str, str],
    config: Path | None = None,
    remember: bool = False,
    variables: Mapping[str, str] = NO_VARIABLES,
) -> Project:
    """The project at `root`, which is its folder or its `rocky.toml`.

    `env` gives `${VAR}` its values and `variables` those of `@var(name)` in SQL; `config` names a
    settings file other than `rocky.toml`.
    With `remember`, models and seeds that are as the last such load left them are not read again.
    Raises ProjectNotFound when there is no settings file.
    """
    folder, config_path = _find_config(root, config)
    diagnostics: list[Diagnostic] = []
    report = diagnostics.append
    document, digest = _read_config_file(folder, config_path, env, report)
    settings = _read_settings(document, report)
    macros = load_macros(folder, variables, report, remember=remember)
    settings, expansions = expand_checks(settings, macros, document, report)
    loading = LoadContext(
        folder,
        env,
        diagnostics,
        variables=variables,
        used=macros.variables,
        macros=macros,
        shared=shared_settings(config_path, settings),
    )
    found = _load_models(loading, settings, remember=remember)
    macros.save()
    for pattern in found.unmatched:
        if settings.pipeline and not pattern.at:
            # Nobody asked for models: the project's pipelines copy, load or check tables.
            continue
        report(_no_models(pattern, document, config_path))
    models = index_models(found.models, report)
    texts = ProjectTexts(folder, {model.path: model for model in found.models})
    needs_columns = settings.compile.undeclared == "error"
    sources = load_sources(folder, env, report, needs_columns=needs_columns)
    imports = load_imports(folder, settings.imports, document, report)
    add_imported(sources, imports, report)
    seeds = load_seeds(folder, env, report, remember=remember)
    functions = load_functions(folder, env, report)
    contracts = load_contracts(folder, found.contracts, models, env, report)
    report_shared_targets(models.values(), texts, report)
    report_shadowed(models, declared_sources(sources), seeds, texts, report)
    report_import_clashes(models.values(), sources, seeds.values(), settings, texts, report)
    report_unknown_dependencies(models, [*sources, *seeds], texts, report)
    report_undeclared_checks(settings, declared_sources(sources), document, report)
    return Project(
        Path(folder),
        config_path,
        settings,
        models,
        sources,
        seeds,
        contracts,
        tuple(name_models(diagnostics, models)),
        texts,
        frozenset(loading.blocked),
        digest,
        frozenset(loading.used),
        imports,
        macros=macros.files,
        check_expansions=expansions,
        functions=functions,
    )


class ConfigError(NamedTuple):
    """An error of the settings, in one line; `keys` is empty when it is of the whole file."""

    keys: Keys
    text: str


def load_config(
    root: Path, *, env: Mapping[str, str], config: Path | None = None
) -> tuple[Config, tuple[ConfigError, ...]]:
    """The settings alone, without any model, and what is wrong with them.

    Where something is wrong its default stands: look at the errors before the settings.
    Raises ProjectNotFound.
    """
    folder, path = _find_config(root, config)
    found: list[Diagnostic] = []
    read = read_text(folder, path, found.append, Code.UNUSABLE_CONFIG)
    text = "" if read is None else read[0]
    document = None
    if read is not None:
        document = parse_document(path, text, env, found.append, Code.UNUSABLE_CONFIG)
    settings = _read_settings(document, found.append)
    source = SourceText(path, text)
    return settings, tuple(
        _config_error(each, source, whole=document is None)
        for each in found
        if each.severity is Severity.ERROR
    )


def _find_config(root: Path, config: Path | None) -> tuple[str, str]:
    """The project's folder and the settings file relative to it."""
    if config is not None and not config.exists():
        raise ProjectNotFound(
            f"`{config}` does not exist: name a project's `{CONFIG_NAME}` or its folder"
        )
    if config is None:
        config = root if root.is_file() else root / CONFIG_NAME
    folder = root.parent if root.is_file() else root
    if not config.is_file():
        raise ProjectNotFound(
            f"no `{config.name}` in `{config.parent}`: run `rocky init` to start a project there,"
            " or name the project's folder"
        )
    relative = os.path.relpath(config, folder).replace(os.sep, "/")
    return str(folder), relative


def _read_config_file(
    folder: str, path: str, env: Mapping[str, str], report: Report
) -> tuple[Document | None, bytes]:
    read = read_text(folder, path, report, Code.UNUSABLE_CONFIG)
    if read is None:
        return None, b""
    document = parse_document(path, read[0], env, report, Code.UNUSABLE_CONFIG)
    return document, blake3(read[1]).digest()


def _read_settings(document: Document | None, report: Report) -> Config:
    if document is None:
        return DEFAULT_CONFIG
    problems: Problems = []
    config = read_config(document.data, problems)
    check_imports_block(config.imports, problems)
    for problem in problems:
        report(document.diagnose(problem))
    return config


def _config_error(found: Diagnostic, source: SourceText, *, whole: bool) -> ConfigError:
    place = source.path
    keys: Keys = ()
    if found.span is not None and source.text:
        line, column = source.position(found.span.start)
        place = f"{place}:{line}:{column}"
        keys = () if whole else _keys_at(source.text, found.span.start)
    help_text = f"; {found.help}" if found.help else ""
    return ConfigError(keys, f"{place}: {found.message}{help_text}")


def _keys_at(text: str, offset: int) -> Keys:
    """The path of keys that stands last before an offset."""
    starts = [
        (min(place.key.start, place.value.start), len(keys), keys)
        for keys, place in locate_keys(text).items()
    ]
    before = [each for each in starts if each[0] <= offset]
    return max(before, key=lambda each: each[:2], default=(0, 0, ()))[2]


def _load_models(loading: LoadContext, config: Config, *, remember: bool) -> ModelsFound:
    patterns = model_patterns(config)
    memory = load_model_cache(Path(loading.root)) if remember else NO_MODEL_CACHE
    loader = FolderLoader(loading, patterns, memory)
    for path in folders_to_walk(patterns):
        for folder in scan_folders(loading.root, path, loading.report, stamps=remember):
            if not is_macro_folder(folder.path):
                loader.load_folder(folder)
    found = loader.found
    found.models.sort(key=lambda model: model.path)
    found.unmatched = [pattern for pattern in patterns if pattern not in found.matched]
    if remember:
        save_model_cache(Path(loading.root), memory, found.models)
    return found


def _no_models(pattern: ModelPattern, document: Document | None, path: str) -> Diagnostic:
    where = f"{pattern.folder}/" if pattern.folder else "the project's folder"
    problem = Problem(
        pattern.at,
        f"the project has no models: `{pattern.text}` matches no `.sql` file",
        f"put a SELECT into a `.sql` file in `{where}`",
    )
    if document is None:
        return Diagnostic(Code.UNUSABLE_CONFIG, problem.message, None, path, help=problem.help)
    return document.diagnose(problem)
