"""Findings about masks: what cannot be masked, where, and which setting asks for it."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Final

from rocky.analysis.classification import Classifications, classify
from rocky.analysis.classification.patterns import every_pattern
from rocky.analysis.classification.places import declared_place
from rocky.analysis.column_masks import MaskProblem
from rocky.analysis.compilation import Compilation
from rocky.analysis.masks.plan import plan_masks
from rocky.diagnostics import Code, Diagnostic, Label
from rocky.diagnostics.codes import Severity, severity_of
from rocky.diagnostics.diagnostic import Span
from rocky.diagnostics.suggestion import suggestion
from rocky.project import Project
from rocky.project.pipeline_tables import PipelineTable
from rocky.project.toml.parser import locate_keys
from rocky.project.toml.variables import Keys, Unset

_CODES: Final[Mapping[str, Code]] = {
    "unfit": Code.MASK_UNFIT,
    "keyless": Code.MASK_UNFIT,
    "mixed": Code.MASKED_AND_CLEAR,
    "key": Code.MASKED_KEY,
}


def with_masks(compilation: Compilation) -> tuple[Compilation, list[Diagnostic]]:
    """The compilation with its masks, and what is wrong with them."""
    classifications = classify(compilation)
    plan = plan_masks(compilation, classifications)
    project = compilation.project
    found = [
        *_unknown_tags(project, classifications),
        *(_finding(compilation, each) for each in _told(project, plan.problems)),
    ]
    return replace(compilation, masks=plan), found


def _told(project: Project, problems: Iterable[MaskProblem]) -> Iterator[MaskProblem]:
    """The problems without those that repeat a cause: a key that is missing is missing once."""
    is_told = isinstance(project.config.governance.hash_key, Unset)
    for each in problems:
        if each.kind != "keyless":
            yield each
        elif not is_told:
            is_told = True
            yield each


def _place(project: Project, keys: Keys, *, on_key: bool = False) -> Span | None:
    place = locate_keys(project.texts[project.config_path].text).get(keys)
    return None if place is None else place.key if on_key else place.value


def _at(project: Project, keys: Keys, message: str, help_text: str | None) -> Diagnostic:
    return Diagnostic(
        Code.UNUSABLE_CONFIG, message, _place(project, keys), project.config_path, help=help_text
    )


def _unknown_tags(project: Project, classifications: Classifications) -> Iterator[Diagnostic]:
    """A tag that no column has and nobody declares is a tag that masks nothing."""
    used = {
        fact.tag
        for table in classifications
        for facts in classifications.table(table).values()
        for fact in facts
    }
    settings = project.config.classifications
    known = used | set(settings.order) | set(settings.tags)
    known |= {tag for _, pattern in every_pattern(project) for tag in pattern.tags}
    masks = project.config.mask
    said: list[tuple[Keys, str]] = [(("mask", tag), tag) for tag in masks.everywhere]
    said += [(("mask", env, tag), tag) for env, tags in masks.environments.items() for tag in tags]
    for keys, tag in said:
        if tag not in known:
            listed = ", ".join(f"`{each}`" for each in sorted(known))
            help_text = suggestion(tag, known) or (
                f"tags: {listed}" if known else "classify a column first"
            )
            yield _at(project, keys, f"no column has the tag `{tag}`", help_text)


def _finding(compilation: Compilation, problem: MaskProblem) -> Diagnostic:
    project = compilation.project
    label = _setting_label(project, problem.tag)
    labels = () if label is None else (label,)
    code, help_text = _CODES[problem.kind], problem.help or None
    model = project.models.get(problem.table)
    copy = project.sources.get(problem.table)
    if model is None and isinstance(copy, PipelineTable):
        place = declared_place(project, problem.table, problem.column)
        path, span = place or (project.config_path, None)
        # What only the last copy tells may be otherwise by now, and fails its table alone.
        told = copy.known_by == "declaration"
        return Diagnostic(
            code,
            f"pipeline `{copy.pipeline}` cannot write `{copy.name}`: {problem.message}",
            span,
            path,
            severity_of(code) if told else Severity.WARNING,
            labels=labels,
            help=help_text,
        )
    if model is None:
        seed = project.seeds[problem.table]
        places = zip(seed.columns, seed.column_places, strict=False)
        span = next((place for each, place in places if each.name == problem.column), None)
        return Diagnostic(
            code, problem.message, span, seed.file, labels=labels, help=help_text, model=seed.name
        )
    produced = compilation.models[problem.table].column(problem.column)
    span = None
    if produced is not None and produced.span is not None:
        span = model.place_in_file(produced.span)
    return Diagnostic(
        code, problem.message, span, model.path, labels=labels, help=help_text, model=model.name
    )


def _setting_label(project: Project, tag: str) -> Label | None:
    declared = ("classifications", "tags", tag, "mask")
    for keys in (("mask", project.env or "", tag), ("mask", tag), declared):
        span = _place(project, keys)
        if span is not None:
            return Label(span, f"what masks `{tag}`", project.config_path)
    return None
