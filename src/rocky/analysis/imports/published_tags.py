"""Published tags: columns that a project would give to others with a tag and in clear."""

from collections.abc import Iterable, Iterator

from rocky.analysis.classification import Classifications, TagFact
from rocky.analysis.classification.places import column_place, origin_labels, way_notes
from rocky.analysis.compilation import Compilation
from rocky.analysis.compliance import find_protection
from rocky.diagnostics import Code, Diagnostic


def find_published_tags(
    compilation: Compilation, published: Iterable[str], facts: Classifications
) -> Iterator[Diagnostic]:
    """One finding a column and tag of the models that are published, by their keys.

    A mask is what a run in the environment of the compile goes by. That the tag may be unmasked
    anywhere allows it here, too; that it is clear by decision in its own project does not.
    """
    project = compilation.project
    keys = {*published}
    allowed = project.config.publish.allow_tags
    for column in find_protection(compilation, facts, (project.env,)):
        tag = column.fact.tag
        clear = column.envs[0].state in ("exposed", "clear_by_decision")
        if column.table.lower() in keys and clear and tag not in allowed:
            yield _published(compilation, column.table.lower(), column.name, column.fact)


def _published(compilation: Compilation, key: str, name: str, fact: TagFact) -> Diagnostic:
    project = compilation.project
    model = project.models[key]
    path, span = column_place(project, compilation.models, model, fact.column.column)
    return Diagnostic(
        Code.PUBLISHED_TAG,
        f"`{model.name}.{name}` has the tag `{fact.tag}`, and is published in clear",
        span,
        path,
        labels=origin_labels(fact, path),
        help=f'mask it: `[mask] {fact.tag} = "hash"`; publish other models: `models` in'
        f' `[publish]`; or say there that others may have it: `allow_tags = ["{fact.tag}"]`',
        model=model.name,
        notes=tuple(way_notes(fact)),
    )
