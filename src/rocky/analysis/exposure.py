"""Exposure: classified columns that are clear in an environment that was not compiled for.

A compile looks at one environment, and says there which tag nothing masks. A build of the project
has to hold in all of them.
"""

from collections.abc import Iterator, Sequence

from rocky.analysis.classification import classify
from rocky.analysis.compilation import Compilation
from rocky.analysis.compliance import ClassifiedColumn, find_protection
from rocky.diagnostics import Code, Diagnostic, Severity
from rocky.diagnostics.codes import severity_of
from rocky.project import Project
from rocky.project.toml.parser import locate_keys


def find_exposures(compilation: Compilation) -> Iterator[Diagnostic]:
    """One finding for each tag and reason in every named environment; none if one was chosen.

    What is clear without a name and for the same reason is not told again.
    """
    project = compilation.project
    environments = sorted(project.config.mask.environments)
    if project.env is not None or not environments:
        return
    found = find_protection(compilation, classify(compilation), (None, *environments))
    for index, env in enumerate(environments, 1):
        exposed: dict[tuple[str, str], list[ClassifiedColumn]] = {}
        for column in found:
            default, here = column.envs[0], column.envs[index]
            if here.state == "exposed" and default.reason != here.reason:
                exposed.setdefault((column.fact.tag, here.reason), []).append(column)
        for (tag, reason), columns in exposed.items():
            yield _finding(project, env, tag, reason, columns)


def _finding(
    project: Project, env: str, tag: str, reason: str, columns: Sequence[ClassifiedColumn]
) -> Diagnostic:
    first = columns[0]
    alone = len(columns) == 1
    held = "has it in clear" if alone else f"and {len(columns) - 1} more have it in clear"
    places = locate_keys(project.texts[project.config_path].text)
    place = places.get(("mask", env, tag)) or places.get(("mask", env))
    way = " -> ".join(".".join(each) for each in first.fact.path)
    strict = project.config.classifications.strict
    return Diagnostic(
        Code.UNMASKED_TAG,
        f"in environment `{env}` nothing masks the tag `{tag}`:"
        f" `{first.table}.{first.name}` {held}",
        None if place is None else place.value,
        project.config_path,
        Severity.ERROR if strict else severity_of(Code.UNMASKED_TAG),
        help=f"`rocky compliance --env {env} --exceptions-only` shows all of them",
        notes=(reason, *([f"the way of the tag: {way}"] if not first.fact.declared else [])),
    )
