"""Consumers of a project, as a compile sees them: what they would lose, or get in clear."""

from collections.abc import Sequence
from pathlib import Path

from rocky.analysis.classification.declared import has_tags
from rocky.analysis.compilation import Compilation
from rocky.project.configuration.blocks import Publish


def with_consumers_of(compilation: Compilation, given: Sequence[Path]) -> Compilation:
    """The compilation, with what it would break of its consumers, or give to them in clear.

    Raises InterfaceRefused.
    """
    project = compilation.project
    published = project.config.publish
    asked = bool(given or published.consumers)
    tagged = published != Publish() and has_tags(project, compilation.models)
    if not asked and not tagged:
        return compilation
    # It loads the binder, which a compile with nothing to bind does without.
    from rocky.operations.interfaces.publish import (  # noqa: PLC0415
        with_consumers,
        with_published_tags,
    )

    if tagged:
        compilation = with_published_tags(compilation)
    return with_consumers(compilation, given) if asked else compilation
