"""Component tags: what the name of a copied table says it was copied from, as tags of the table.

The templates of a pipeline's target made the name from the components of a source schema's name;
read backwards, they give them back. A name that could have been made in two ways is refused: a
wrong tag is worse than none.
"""

import re

from rocky.errors import GovernanceRefused
from rocky.project.configuration.pipelines import ReplicationPipeline
from rocky.project.configuration.replication_rules import find_placeholders


def component_tags(pipeline: ReplicationPipeline, catalog: str, schema: str) -> dict[str, str]:
    """The components in the names of a catalog and a schema, each under its prefixed name."""
    target = pipeline.target
    found: dict[str, str] = {}
    for template, name in ((target.catalog_template, catalog), (target.schema_template, schema)):
        if template is not None:
            found |= _components(str(template), name)
    return {f"{target.governance.tag_prefix}{name}": value for name, value in found.items()}


def _components(template: str, name: str) -> dict[str, str]:
    eager, lazy = (
        re.fullmatch(_pattern(template, some), name, re.IGNORECASE) for some in (".+", ".+?")
    )
    if eager is None or lazy is None:
        return {}
    if eager.groups() != lazy.groups():
        raise GovernanceRefused(
            f"`{name}` can be read in two ways as `{template}`, so its components are not known;"
            " put something between the placeholders that is in no component"
        )
    return dict(zip(_names(template), eager.groups(), strict=True))


def _names(template: str) -> list[str]:
    return list(dict.fromkeys(each.name for each in find_placeholders(template)))


def _pattern(template: str, some: str) -> str:
    """What makes a name of a template, the other way round."""
    parts: list[str] = []
    at, known = 0, 0
    names = _names(template)
    for each in find_placeholders(template):
        number = names.index(each.name) + 1
        parts.append(re.escape(template[at : each.start]))
        parts.append(f"(?:\\{number})" if number <= known else f"({some})")
        known, at = max(known, number), each.end
    return "".join([*parts, re.escape(template[at:])])
