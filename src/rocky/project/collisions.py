"""Names that meet: two models with one name or target, a model that hides a source or an import.

Names are compared without case, as Spark compares them. A clash is one report, at one of those who
take part, with the others labelled. A table has one owner: what the project writes cannot be what
another project publishes. A short name, `import.model`, only gives way, because its table can still
be read by its full name.
"""

from collections.abc import Iterable, Mapping
from typing import Final, NamedTuple

from rocky.diagnostics import Code, Diagnostic, Label
from rocky.diagnostics.codes import severity_of
from rocky.diagnostics.diagnostic import Span
from rocky.diagnostics.suggestion import NameIndex
from rocky.language.names import split_name
from rocky.project.configuration.config import (
    DEFAULT_CATALOG,
    DEFAULT_SCHEMA,
    Config,
    model_patterns,
)
from rocky.project.configuration.strategies import has_target
from rocky.project.files import Report
from rocky.project.imports import ImportedTable
from rocky.project.models import ModelFile, Target, setting_place
from rocky.project.pipeline_tables import PipelineTable
from rocky.project.project import ProjectTexts
from rocky.project.seeds import SeedTable
from rocky.project.sources import SourceTable
from rocky.project.toml.variables import Substituted, written


def index_models(models: Iterable[ModelFile], report: Report) -> dict[str, ModelFile]:
    """Models by lower-case name; of several with one name, the first by path."""
    found: dict[str, ModelFile] = {}
    groups: dict[str, list[ModelFile]] = {}
    for model in models:
        first = found.setdefault(model.key, model)
        if first is not model:
            groups.setdefault(model.key, [first]).append(model)
    for group in groups.values():
        *others, model = group
        report(
            Diagnostic(
                Code.DUPLICATE_TARGET,
                f"another model is also called `{model.name}`",
                None,
                model.path,
                labels=tuple(Label(None, "the other one", each.path) for each in others),
                help="rename one of the files, or set `name` in its sidecar",
                model=model.name,
            )
        )
    return found


def report_shared_targets(models: Iterable[ModelFile], texts: ProjectTexts, report: Report) -> None:
    """Report models that would write one table. An ephemeral model writes none."""
    by_table: dict[str, list[ModelFile]] = {}
    for model in models:
        by_table.setdefault(model.target.table.lower(), []).append(model)
    by_target: dict[str, list[ModelFile]] = {}
    for group in by_table.values():
        # Nearly every table name is there once, and its full name need not be put together.
        for model in group if len(group) > 1 else ():
            if has_target(model.strategy):
                by_target.setdefault(model.target.key, []).append(model)
    for group in by_target.values():
        if len(group) > 1:
            report(_shared_target(group, texts))


def _shared_target(group: list[ModelFile], texts: ProjectTexts) -> Diagnostic:
    """The finding about models with one target, at the last of them that sets its own."""
    places = [(model, *setting_place(model, texts, ("target", "table"))) for model in group]
    model, path, span = next((each for each in reversed(places) if each[2]), places[-1])
    *names, last = [f"`{each.name}`" for each in group]
    return Diagnostic(
        Code.DUPLICATE_TARGET,
        f"models {', '.join(names)} and {last} write one table, `{_shown_target(model, group)}`",
        span,
        path,
        labels=tuple(
            Label(place, f"`{other.name}` writes it too", file)
            for other, file, place in places
            if other is not model
        ),
        help="give each model its own `[target]`",
        model=model.name,
    )


def _shown_target(model: ModelFile, group: list[ModelFile]) -> str:
    """The table's name as a file has it: what a variable holds is not ours to show.

    A model that spells the name out is asked first, because that says the most.
    """
    plain = [
        each
        for each in (model, *group)
        if not any(isinstance(part, Substituted) for part in each.target)
    ]
    return ".".join(map(written, (plain or [model])[0].target))


def report_shadowed(
    models: Mapping[str, ModelFile],
    sources: Mapping[str, SourceTable],
    seeds: Mapping[str, SeedTable],
    texts: ProjectTexts,
    report: Report,
) -> None:
    """Report models, and then seeds, that hide a table of the same name."""
    for key in sorted(models.keys() & (sources.keys() | seeds.keys())):
        model = models[key]
        kind, other = (
            ("source", _source_label(sources[key]))
            if key in sources
            else (
                "seed",
                Label(None, "the seed", seeds[key].path),
            )
        )
        report(
            Diagnostic(
                Code.SHADOWED_NAME,
                f"model `{model.name}` hides the {kind} of the same name",
                None,
                model.path,
                severity_of(Code.SHADOWED_NAME),
                labels=(other,),
                help=f"rename one of them; `{model.name}` in SQL now means the model",
                model=model.name,
            )
        )
    _report_shadowing_targets(models.values(), sources, texts, report)
    for key in sorted(seeds.keys() & sources.keys()):
        report(
            Diagnostic(
                Code.UNUSABLE_FILE,
                f"seed `{seeds[key].name}` has the name of a source",
                None,
                seeds[key].path,
                labels=(_source_label(sources[key]),),
                help="rename one of the two",
            )
        )


def _report_shadowing_targets(
    models: Iterable[ModelFile],
    sources: Mapping[str, SourceTable],
    texts: ProjectTexts,
    report: Report,
) -> None:
    """Report models whose target has the name of a source: that name now means the model."""
    by_name = {key.replace("`", ""): source for key, source in sources.items() if "." in key}
    tables = {name[name.rfind(".") + 1 :] for name in by_name}
    for model in models:
        if model.target.table.lower() not in tables:
            continue
        full = model.target.key
        source = by_name.get(full) or by_name.get(full.partition(".")[2])
        if source is None:
            continue
        path, span = setting_place(model, texts, ("target", "table"))
        name = written(source.name)
        report(
            Diagnostic(
                Code.SHADOWED_NAME,
                f"the target of model `{model.name}` hides the source `{name}`",
                span,
                path,
                severity_of(Code.SHADOWED_NAME),
                labels=(_source_label(source),),
                help=f"give the model another target; `{name}` in SQL now means the model",
                model=model.name,
            )
        )


def _source_label(source: SourceTable) -> Label:
    return Label(source.place, "the source", source.file)


def report_unknown_dependencies(
    models: Mapping[str, ModelFile], tables: Iterable[str], texts: ProjectTexts, report: Report
) -> None:
    """Report names in `depends_on` that are no model, source or seed."""
    known = {*models, *tables}
    names: NameIndex | None = None
    targets: set[str] = set()
    for model in models.values():
        for index, name in enumerate(model.depends_on):
            if name.lower() in known:
                continue
            if names is None:
                names = NameIndex(known)
                targets = {other.target.key for other in models.values()}
            if name.lower() in targets:
                continue
            path, span = setting_place(model, texts, ("depends_on", index))
            report(
                Diagnostic(
                    Code.UNUSABLE_FILE,
                    f"`depends_on` names `{written(name)}`, which is not a model, source or seed",
                    span,
                    path,
                    help=names.suggestion(written(name)),
                    model=model.name,
                )
            )


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
    """The sources that the project declares itself, or reads as others leave them."""
    made_elsewhere = (ImportedTable, PipelineTable)
    return {key: each for key, each in sources.items() if not isinstance(each, made_elsewhere)}


def report_import_clashes(
    models: Iterable[ModelFile],
    sources: Mapping[str, SourceTable],
    seeds: Iterable[SeedTable],
    config: Config,
    texts: ProjectTexts,
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


def _check_model(model: ModelFile, names: _Names, texts: ProjectTexts, report: Report) -> None:
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
    parts = list(split_name(source.key))
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
