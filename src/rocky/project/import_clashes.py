"""Names that an import shares with something of the project's own.

A table has one owner: what the project writes cannot be what another project publishes. A short
name, `import.model`, only gives way, because its table can still be read by its full name.
"""

from collections.abc import Iterable, Mapping
from typing import Final, NamedTuple

from rocky.diagnostics import Code, Diagnostic, Label
from rocky.diagnostics.codes import severity_of
from rocky.project.config import Config
from rocky.project.files import Report
from rocky.project.imports import ImportedTable
from rocky.project.models import ModelFile, Target
from rocky.project.patterns import DEFAULT_CATALOG, DEFAULT_SCHEMA, model_patterns
from rocky.project.places import setting_place
from rocky.project.project import Texts
from rocky.project.seeds import SeedTable
from rocky.project.sources import SourceTable
from rocky.project.strategies import has_target
from rocky.project.variables import written
from rocky.source import Span

_SHORT: Final = 2
_FULL: Final = 3


def target_of_seed(seed: SeedTable, config: Config) -> Target:
    """The table a seed is loaded into; what it does not say itself is the first pipeline's."""
    patterns = model_patterns(config)
    catalog = patterns[0].catalog if patterns else DEFAULT_CATALOG
    schema = patterns[0].schema if patterns else DEFAULT_SCHEMA
    own = seed.target
    return Target(
        own.catalog or catalog, own.schema or schema, own.table or seed.name.rpartition(".")[2]
    )


def declared_sources(sources: Mapping[str, SourceTable]) -> dict[str, SourceTable]:
    """The sources that the project declares itself."""
    return {key: each for key, each in sources.items() if not isinstance(each, ImportedTable)}


def report_import_clashes(
    models: Iterable[ModelFile],
    sources: Mapping[str, SourceTable],
    seeds: Iterable[SeedTable],
    config: Config,
    texts: Texts,
    report: Report,
) -> None:
    """Report what would write a table of an import, and what hides one's short name."""
    imported = [each for each in sources.values() if isinstance(each, ImportedTable)]
    # One that is gone may be taken over: it is not the other project's any more.
    kept = [each for each in imported if not each.removed]
    if not kept:
        return
    names = _Names(
        {each.key: each for each in kept},
        {(each.imported.lower(), each.model.lower()): each for each in kept},
    )
    for model in models:
        _check_model(model, names, texts, report)
    for seed in seeds:
        _check_seed(seed, target_of_seed(seed, config), names, report)
    for source in declared_sources(sources).values():
        _check_source(source, names, report)


class _Names(NamedTuple):
    """Imported tables by their full names and by their short ones, in lower case."""

    tables: Mapping[str, ImportedTable]
    shorts: Mapping[tuple[str, str], ImportedTable]


def _check_model(model: ModelFile, names: _Names, texts: Texts, report: Report) -> None:
    target = model.target
    owned = names.tables.get(target.key) if has_target(model.strategy) else None
    short = names.shorts.get((target.schema.lower(), target.table.lower()))
    if owned is not None:
        path, span = setting_place(model, texts, ("target", "table"))
        report(_written(f"model `{model.name}`", owned, path, span, model.name))
    elif short is not None and short.key != target.key:
        path, span = setting_place(model, texts, ("target", "table"))
        report(_hidden(f"the table of model `{model.name}`", short, path, span))


def _check_seed(seed: SeedTable, target: Target, names: _Names, report: Report) -> None:
    owned = names.tables.get(target.key) or names.tables.get(seed.key)
    if owned is not None:
        report(_written(f"seed `{seed.name}`", owned, seed.path, None, None))
        return
    schema, _, table = seed.key.rpartition(".")
    short = names.shorts.get((schema or (seed.target.schema or "").lower(), table))
    if short is not None:
        report(_hidden(f"seed `{seed.name}`", short, seed.path, None))


def _check_source(source: SourceTable, names: _Names, report: Report) -> None:
    parts = [part.strip("`") for part in source.key.split(".")]
    if len(parts) == _FULL and parts[0] == DEFAULT_CATALOG:
        del parts[0]
    short = names.shorts.get((parts[0], parts[1])) if len(parts) == _SHORT else None
    if short is not None:
        report(_hidden(f"source `{written(source.name)}`", short, source.file, source.place))


def _written(
    what: str, table: ImportedTable, path: str, span: Span | None, model: str | None
) -> Diagnostic:
    return Diagnostic(
        Code.UNUSABLE_FILE,
        f"{what} would write `{table.name}`, which is a table of import `{table.imported}`",
        span,
        path,
        labels=(Label(table.place, "the imported table", table.file),),
        help="give it another `[target]`: the table is written by the other project",
        model=model,
    )


def _hidden(what: str, table: ImportedTable, path: str, span: Span | None) -> Diagnostic:
    return Diagnostic(
        Code.SHADOWED_NAME,
        f"{what} hides `{table.short_name}` of import `{table.imported}`",
        span,
        path,
        severity_of(Code.SHADOWED_NAME),
        labels=(Label(table.place, "the imported table", table.file),),
        help=f"rename one of them, or read the imported table as `{table.name}`",
    )
