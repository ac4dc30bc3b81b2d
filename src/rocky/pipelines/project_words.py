"""Words of a project: which tables, of very many, its SQL and its settings could mean.

A replication may have copied ten thousand tables of which a model reads three. The log of one whose
name stands nowhere need not be read: nobody asks for its columns.
"""

import re
from typing import Final

from rocky.errors import RockyError
from rocky.project import Project
from rocky.project.configuration.pipelines import QualityPipeline, SnapshotPipeline
from rocky.project.files import show_text

MANY: Final = 1000
"""So many tables are all looked at: whoever mistypes a name is told of one that is near."""
_WORD: Final = re.compile(r"\w+")


class Words:
    """The words that stand anywhere, in lower case. None knows of no limit: all are meant."""

    def __init__(self, words: frozenset[str] | None) -> None:
        self._words = words

    def mean(self, table: str) -> bool:
        """Whether a table could be meant by its name; one that is no word could be by any text."""
        return self._words is None or table.lower() in self._words or not _WORD.fullmatch(table)


EVERY_WORD: Final = Words(None)


def words_of(project: Project) -> Words:
    """The words in the SQL of a project, in what it declares and in what its pipelines name."""
    words: set[str] = set()
    try:
        for model in project.models.values():
            words.update(_WORD.findall(model.text.lower()))
    except RockyError:
        # One that changed this moment: whoever compiles it says so.
        return EVERY_WORD
    for macro in project.macros.values():
        words.update(_WORD.findall(show_text(str(project.root), macro.path).lower()))
    for source in project.sources.values():
        words.update(_WORD.findall(f"{source.path or ''!s} {source.name!s}".lower()))
    for pipeline in project.config.pipeline.values():
        if isinstance(pipeline, SnapshotPipeline):
            words.add(pipeline.source.table.lower())
        if isinstance(pipeline, QualityPipeline):
            named = (each.table or each.label.rpartition(".")[2] for each in pipeline.tables)
            words.update(each.lower() for each in named)
    return Words(frozenset(words))
