"""Names that meet: two models with one name or one target, a model that hides a source.

Names are compared without case, as Spark compares them. A clash is one report, at one of
those who take part, with the others labelled.
"""

from collections.abc import Iterable, Mapping

from rocky.diagnostics import Code, Diagnostic, Label
from rocky.diagnostics.codes import severity_of
from rocky.diagnostics.suggest import NameIndex
from rocky.project.files import Report
from rocky.project.models import ModelFile
from rocky.project.places import setting_place
from rocky.project.project import Texts
from rocky.project.seeds import SeedTable
from rocky.project.sources import SourceTable
from rocky.project.strategies import has_target
from rocky.project.variables import Substituted, written


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


def report_shared_targets(models: Iterable[ModelFile], texts: Texts, report: Report) -> None:
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


def _shared_target(group: list[ModelFile], texts: Texts) -> Diagnostic:
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
    texts: Texts,
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
    models: Iterable[ModelFile], sources: Mapping[str, SourceTable], texts: Texts, report: Report
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
    models: Mapping[str, ModelFile], tables: Iterable[str], texts: Texts, report: Report
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
                    f"`depends_on` names `{written(name)}`, which is no model, source or seed",
                    span,
                    path,
                    help=names.suggestion(written(name)),
                    model=model.name,
                )
            )
