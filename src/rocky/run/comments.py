"""Comments of tables: what the log of a table is to say of it, by the project of now.

Descriptions are for people. Owner and tags, also those that came along lineage, are for programs.
"""

from collections.abc import Iterator, Mapping
from functools import cached_property

from rocky.analysis.classification import Classifications, TagFact, classify
from rocky.analysis.compilation import Compilation
from rocky.project.configuration.classifications import Declassification, join_tags
from rocky.project.configuration.labels import shown_text
from rocky.project.descriptions import describe_declared, describe_model
from rocky.store.delta.comments import Comments
from rocky.store.delta.labels import (
    CLASSIFICATION,
    DECLASSIFIED,
    OWNER,
    Labels,
    field_label,
    join_declassified,
)


class ProjectComments:
    """What is to be said of the tables of a compiled project. Threads may share it."""

    def __init__(self, compilation: Compilation) -> None:
        self._compilation = compilation
        self._project = compilation.project

    def of_model(self, key: str) -> Comments:
        """What is said of a model and its columns, by its key."""
        model = self._project.models[key]
        said = describe_model(model, self._project.contracts.get(key))
        return Comments(*said, self._labels(key, model.owner))

    def of_seed(self, key: str) -> Comments:
        """What is said of a seed and its columns, by its key."""
        seed = self._project.seeds[key]
        return Comments(*describe_declared(seed), self._labels(key, seed.owner))

    @cached_property
    def _facts(self) -> Classifications:
        return classify(self._compilation)

    def _labels(self, key: str, owner: str | None) -> Labels:
        facts = self._facts.table(key)
        said = {
            OWNER: shown_text(owner),
            CLASSIFICATION: join_tags(self._tags(facts)),
            DECLASSIFIED: join_declassified(self._declassified(key)),
        }
        return Labels(
            {name: text for name, text in said.items() if text},
            {column: _tags_by_field(found) for column, found in facts.items()},
        )

    def _tags(self, facts: Mapping[str, tuple[TagFact, ...]]) -> tuple[str, ...]:
        """All tags of a table, the highest first."""
        found = {each.tag for column in facts.values() for each in column}
        rank = self._project.config.classifications.rank
        return tuple(sorted(found, key=lambda tag: (rank(tag), tag)))

    def _declassified(self, key: str) -> Iterator[str]:
        places = {each.place for each in self._facts.declassified if each.model == key}
        for place in sorted(places):
            said = self._project.models[key].settings.declassify[place]
            yield declassified_label(said)


def declassified_label(said: Declassification) -> str:
    """What the log of a table says of a tag that was taken off one of its columns."""
    approved_by = str(shown_text(said.approved_by)).replace(";", ",")
    return f"{said.column}: {said.tag} ({approved_by})"


def _tags_by_field(facts: tuple[TagFact, ...]) -> dict[str, str]:
    found: dict[str, dict[str, None]] = {}
    for fact in facts:
        found.setdefault(field_label(fact.field), {})[fact.tag] = None
    return {key: join_tags(tuple(tags)) for key, tags in found.items()}
