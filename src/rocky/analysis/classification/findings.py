"""What is wrong with classifications: tags nobody declared, or where they may not be, or unmasked.

Every finding about a column names the way its tag took, from the column where it was declared.
"""

from collections.abc import Iterable, Iterator, Mapping

from rocky.analysis.classification.facts import Classifications, TagFact
from rocky.analysis.classification.flow import classify_models
from rocky.analysis.classification.places import (
    column_place,
    declared_place,
    declared_tags,
    origin_labels,
    way_notes,
)
from rocky.analysis.classification.small_groups import find_small_groups
from rocky.analysis.classification.tables import (
    allows,
    find_missing_columns,
    find_not_allowed,
)
from rocky.analysis.compilation import CompiledModels
from rocky.diagnostics import Code, Diagnostic
from rocky.diagnostics.codes import Severity, severity_of
from rocky.diagnostics.diagnostic import Span
from rocky.diagnostics.suggestion import suggestion
from rocky.project import ModelFile, Project
from rocky.project.configuration.classifications import TagAllowance
from rocky.project.configuration.masks import MaskStrategy
from rocky.project.contracts import Contract
from rocky.project.models import setting_place
from rocky.project.pipeline_tables import PipelineTable
from rocky.project.project import clear_anywhere, mask_strategies


def check_classifications(
    project: Project, models: CompiledModels, upstream: Mapping[str, Iterable[str]]
) -> Iterator[Diagnostic]:
    """All findings about tags of a project; `upstream` is by declared names."""
    facts = classify_models(project, models, upstream)
    yield from _declassified_nothing(project, models, facts)
    if not facts:
        return
    yield from find_missing_columns(project)
    yield from _unknown_tags(project, models)
    yield from _not_allowed(project, models, facts)
    yield from _not_promised(project, facts)
    yield from _unmasked(project, models, facts)
    yield from find_small_groups(project, models, facts)
    yield from _written_values(project, models, facts)


def _unknown_tags(project: Project, models: CompiledModels) -> Iterator[Diagnostic]:
    known = project.config.classifications.tags
    if not known:
        return
    for said in declared_tags(project, models):
        if said.tag not in known:
            yield Diagnostic(
                Code.UNKNOWN_TAG,
                f"no tag `{said.tag}` is declared in `[classifications.tags]`",
                said.span,
                said.path,
                help=suggestion(said.tag, known)
                or f"declare it in `rocky.toml`: `[classifications.tags.{said.tag}]`",
                model=said.model,
            )


def _not_allowed(
    project: Project, models: CompiledModels, facts: Classifications
) -> Iterator[Diagnostic]:
    limited = {
        name: tag.allow
        for name, tag in project.config.classifications.tags.items()
        if tag.allow is not None
    }
    if not limited:
        return
    yield from find_not_allowed(project, facts, limited)
    for key in models:
        model = project.models[key]
        for column, found in facts.table(key).items():
            for fact in found:
                allow = limited.get(fact.tag)
                if allow is not None and not _allows(allow, model):
                    yield _refused(project, models, model, column, fact)


def _allows(allow: TagAllowance, model: ModelFile) -> bool:
    return allows(allow, model.target, model.name) or not model.tags.keys().isdisjoint(allow.tags)


def _refused(
    project: Project, models: CompiledModels, model: ModelFile, column: str, fact: TagFact
) -> Diagnostic:
    path, span = column_place(project, models, model, column)
    tag = project.config.classifications.tags[fact.tag]
    notes = [*way_notes(fact)]
    if tag.owner is not None:
        about = f": {tag.description}" if tag.description else ""
        notes.append(f"`{fact.tag}` belongs to {tag.owner}{about}")
    return Diagnostic(
        Code.TAG_NOT_ALLOWED,
        f"column `{fact.column.column}` has the tag `{fact.tag}`,"
        f" which is not allowed in model `{model.name}`",
        span,
        path,
        labels=origin_labels(fact, path),
        help=f"leave it out, build it where `[classifications.tags.{fact.tag}] allow` says, or take"
        " the tag off in the open with `[[declassify]]`",
        model=model.name,
        notes=tuple(notes),
    )


def _not_promised(project: Project, facts: Classifications) -> Iterator[Diagnostic]:
    """Columns whose contract names tags, and not all that they have."""
    for key, contract in project.contracts.items():
        for promised in contract.columns:
            if promised.classification is None:
                continue
            for fact in facts.of(key, promised.name):
                if fact.tag not in promised.classification:
                    span = promised.classification_span
                    yield _unpromised(contract, promised.name, promised.classification, fact, span)


def _unpromised(
    contract: Contract, column: str, promised: tuple[str, ...], fact: TagFact, span: Span | None
) -> Diagnostic:
    listed = ", ".join(f"`{each}`" for each in promised)
    return Diagnostic(
        Code.CONTRACT_CLASSIFICATION,
        f"the contract promises the classification {listed} of column `{column}`, which has the"
        f" tag `{fact.tag}`",
        span,
        contract.path,
        labels=origin_labels(fact, contract.path),
        help=f"name `{fact.tag}` in the contract, or take it off in the open with `[[declassify]]`",
        model=contract.model,
        notes=tuple(way_notes(fact)),
    )


def _declassified_nothing(
    project: Project, models: CompiledModels, facts: Classifications
) -> Iterator[Diagnostic]:
    done = {(each.model, each.place) for each in facts.declassified}
    for key, record in models.records().items():
        if not record.names_columns:
            continue
        model = project.models[key]
        for index, said in enumerate(model.settings.declassify):
            own = any(
                each.declared and each.tag == said.tag
                for each in facts.of(key, said.column.partition(".")[0])
            )
            if (key, index) in done and not own:
                continue
            path, span = setting_place(model, project.texts, ("declassify", index, "tag"))
            why = "is given that tag by this model itself" if own else "does not have that tag"
            yield Diagnostic(
                Code.DECLASSIFIED_NOTHING,
                f"the declassification has no effect: column `{said.column}` of model"
                f" `{model.name}` {why}",
                span,
                path,
                help="take it out of `[classification]`" if own else _had(facts, key, said.column),
                model=model.name,
            )


def _had(facts: Classifications, key: str, column: str) -> str:
    """What to do about a declassification that meets no tag."""
    tags = sorted({each.tag for each in facts.of(key, column.partition(".")[0])})
    listed = ", ".join(f"`{each}`" for each in tags)
    return f"its tags are {listed}" if tags else "remove it: the column has no tag"


def _unmasked(
    project: Project, models: CompiledModels, facts: Classifications
) -> Iterator[Diagnostic]:
    """One finding a tag that columns of models, or of copies, have and nothing masks."""
    settings = project.config.classifications
    held: dict[str, list[TagFact]] = {}
    masked = mask_strategies(project)
    copies = (key for key, each in project.sources.items() if isinstance(each, PipelineTable))
    for key in (*models, *copies):
        for found in facts.table(key).values():
            for fact in found:
                if not _is_masked(fact, found, masked):
                    held.setdefault(fact.tag, []).append(fact)
    for tag, held_by in held.items():
        declared = settings.tags.get(tag)
        if tag in masked or tag in settings.allow_unmasked or (settings.tags and declared is None):
            continue
        first = min(held_by, key=lambda each: each.distance)
        origin = first.origin
        path, span = declared_place(project, origin.table.lower(), origin.column) or (None, None)
        others = "" if len(held_by) == 1 else f" and {len(held_by) - 1} more"
        yield Diagnostic(
            Code.UNMASKED_TAG,
            f"nothing masks the tag `{tag}`: `{first.column.table}.{first.column.column}`{others}"
            f" {'has' if len(held_by) == 1 else 'have'} it in clear",
            span,
            path or project.config_path,
            Severity.ERROR if settings.strict else severity_of(Code.UNMASKED_TAG),
            help=f'say how to mask it, such as `{tag} = "redact"` in `[mask]`, or that it may be'
            f' clear: `allow_unmasked = ["{tag}"]` in `[classifications]`',
            model=origin.table if origin.table.lower() in project.models else None,
            notes=tuple(way_notes(first)),
        )


def _is_masked(
    fact: TagFact, beside: Iterable[TagFact], masked: Mapping[str, MaskStrategy]
) -> bool:
    """Whether a column is masked for another tag that it has too, wherever it has this one."""
    others = {each.tag for each in beside if each.field in ("", fact.field)} & masked.keys()
    return bool(others) and all(masked[each].name != "none" for each in others)


def _written_values(
    project: Project, models: CompiledModels, facts: Classifications
) -> Iterator[Diagnostic]:
    """Tests that list the values of a column with a tag: whatever shows their line shows these.

    Of all that a test says, only this is data and not a rule about it.
    """
    clear = clear_anywhere(project)
    for key in models:
        if not facts.table(key) or not models.record(key).names_columns:
            continue
        model = project.models[key]
        for index, test in enumerate(model.tests):
            if test.type != "accepted_values" or test.column is None or test.table is not None:
                continue
            told = [each for each in facts.of(key, test.column) if each.tag not in clear]
            if told:
                path, span = setting_place(model, project.texts, ("tests", index, "values"))
                yield Diagnostic(
                    Code.WRITTEN_VALUES,
                    f"values of `{test.column}`, which has the tag `{told[0].tag}`, are written"
                    " down in a test",
                    span,
                    path,
                    severity_of(Code.WRITTEN_VALUES),
                    help="keep them in a table and test with `relationships`, or say that the tag"
                    " may be clear",
                    model=model.name,
                    notes=tuple(way_notes(told[0])),
                )
