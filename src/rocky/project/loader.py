"""Loading a project: the folder of `rocky.toml` -> `Project`.

Every file is read once; what is wrong with one is a diagnostic at its line.
"""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Final, NamedTuple

from blake3 import blake3

from rocky.diagnostics import Code, Diagnostic, Severity
from rocky.diagnostics.diagnostic import SourceText
from rocky.errors import ProjectNotFound
from rocky.project.cache import NO_MODEL_CACHE, load_model_cache, save_model_cache
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
from rocky.project.contracts import load_contracts, name_models
from rocky.project.files import (
    Report,
    is_file,
    read_text,
    scan_folders,
)
from rocky.project.functions import load_functions
from rocky.project.imports import add_imported, check_imports_block, load_imports
from rocky.project.inheritance import shared_settings
from rocky.project.macros import is_macro_folder, load_macros
from rocky.project.model_files import LoadContext
from rocky.project.model_folders import FolderLoader, ModelsFound
from rocky.project.model_reload import ModelReload
from rocky.project.project import Project, ProjectTexts
from rocky.project.seeds import load_seeds
from rocky.project.sources import load_sources
from rocky.project.toml.documents import Document, Problem, Problems, parse_document
from rocky.project.toml.parser import locate_keys
from rocky.project.toml.variables import Keys

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
        reload=ModelReload(loading, found.starts),
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
    if config is not None and not config.exists() and not is_file(str(config)):
        raise ProjectNotFound(
            f"`{config}` does not exist: name a project's `{CONFIG_NAME}` or its folder"
        )
    if config is None:
        config = root if root.is_file() else root / CONFIG_NAME
    folder = root.parent if root.is_file() else root
    if not is_file(str(config)):
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
    found.starts = loader.starts
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
