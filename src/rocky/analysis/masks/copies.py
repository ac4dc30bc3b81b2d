"""Copies: the tags of what pipelines write, and by what it is masked, column by column as found.

A compile knows of some copies, and of few all columns. A run has the columns before it, and what
it writes is classified by the patterns of the pipeline, by what is declared of the table or of what
it is copied from, and by what came there along lineage. Whoever reads the copy later asks the same.
"""

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Final

from rocky.analysis.classification import Classifications, TagFact, classify
from rocky.analysis.classification.declared import DeclaredTag, place_tags
from rocky.analysis.classification.patterns import patterns_of, writer_of
from rocky.analysis.column_masks import NO_TABLE_MASKS, TableMasks, digest_of
from rocky.analysis.compilation import Compilation
from rocky.analysis.lineage import ColumnRef
from rocky.analysis.masks.plan import MaskPlanner
from rocky.canonical import canonical_json, text_hash
from rocky.language.datatypes.types import StructField
from rocky.language.names import split_name
from rocky.project import Project
from rocky.project.collisions import target_of_seed
from rocky.project.configuration.column_patterns import place_patterns
from rocky.project.configuration.masks import MaskStrategy
from rocky.project.models import Target
from rocky.project.pipeline_tables import PipelineTable, full_parts
from rocky.project.project import mask_strategies
from rocky.project.sources import SourceTable

ColumnSaid = Mapping[str, tuple[str, ...]]
"""Tags by column or field, as `[classification]` of a model has them."""


@dataclass(frozen=True, slots=True)
class CopyTags:
    """The tags of a table that a pipeline writes, by column or field as it is spelt.

    `above` are those that the table it is made from has, which is `masked` already where the
    project writes it.
    """

    columns: ColumnSaid = field(default_factory=dict)
    above: ColumnSaid = field(default_factory=dict)
    masked: bool = False


NO_COPY_TAGS: Final = CopyTags()


class CopiedTables:
    """What a compiled project knows of the tables that its pipelines write."""

    def __init__(self, compilation: Compilation) -> None:
        self.compilation = compilation
        self.project: Project = compilation.project
        self._patterns = {
            name: patterns_of(self.project, name) for name in self.project.config.pipeline
        }

    @cached_property
    def facts(self) -> Classifications:
        """The tags of all columns."""
        return classify(self.compilation)

    @cached_property
    def _strategies(self) -> Mapping[str, MaskStrategy]:
        return mask_strategies(self.project)

    def tags(
        self,
        pipeline: str,
        target: Target,
        columns: Sequence[str],
        said: ColumnSaid | None = None,
        base: Target | None = None,
    ) -> CopyTags:
        """The tags of a table with these columns.

        `said` is what is declared of what it is copied from; `base` the table of the warehouse that
        it is made from, where it is.
        """
        found = _Tags(columns)
        found.place(place_patterns(self._patterns.get(pipeline, ()), target.table, columns))
        found.place(said or {})
        for source in self._faces(target):
            found.place(source.classification)
        above, key = _Tags(columns), self._above(target, base)
        table = self.project.sources.get(key or "")
        if isinstance(table, PipelineTable):
            # What its patterns mean is known by columns, which a compile may not have had.
            parts = Target(*table.parts)
            above.place(self.tags(table.pipeline, parts, columns).columns)
        elif key is not None:
            above.carry(self.facts, key)
        found.place(above.said)
        written = key in self.project.models or key in self.project.seeds
        return CopyTags(
            found.said, above.said, written or writer_of(self.project, key or "") is not None
        )

    def masks(
        self,
        pipeline: str,
        target: Target,
        columns: Sequence[StructField],
        said: ColumnSaid | None = None,
        base: Target | None = None,
    ) -> TableMasks:
        """What masks a table that has these columns. What cannot be masked is left out."""
        strategies = self._strategies
        names = [each.name for each in columns]
        tags = self.tags(pipeline, target, names, said, base) if strategies else NO_COPY_TAGS
        if not tags.columns:
            return NO_TABLE_MASKS
        placed = place_tags(tags.columns.items(), names)
        hidden = place_tags(tags.above.items(), names) if tags.masked else {}
        facts = {
            name: self._ranked(target, name, each)
            for name, each in placed.items()
            if set(each) - set(hidden.get(name, ()))
        }
        # A copy may have a null wherever its source has a row.
        fields = [StructField(each.name, each.type, nullable=True) for each in columns]
        planner = MaskPlanner(self.compilation, Classifications(), strategies)
        return planner.of_columns(target.key, facts, fields)

    def digest(self, pipeline: str, target: Target, columns: Sequence[StructField]) -> str:
        """What tells the masks of a stored table from others, by the columns that it has."""
        return digest_of(self.masks(pipeline, target, columns))

    def terms(self, pipeline: str, target: Target, said: ColumnSaid | None = None) -> str:
        """A hash of what decides over the tags and masks of a table, whatever its columns are.

        Empty where nothing does.
        """
        project = self.project
        meant = [x for x in self._patterns.get(pipeline, ()) if x.is_about(target.table)]
        told = [(each.written, each.tags) for each in meant]
        told += sorted((said or {}).items())
        told += [x for each in self._faces(target) for x in sorted(each.classification.items())]
        if not told:
            return ""
        masks = self._strategies
        used = sorted({tag for _, tags in told for tag in tags if tag in masks})
        document = {
            "tags": [[name, list(tags)] for name, tags in told],
            "masks": [[tag, str(masks[tag])] for tag in used],
            "order": list(project.config.classifications.order),
            "key": project.config.governance.key_fingerprint or "",
        }
        return text_hash(canonical_json(document))

    def _ranked(
        self, target: Target, name: str, tags: Iterable[DeclaredTag]
    ) -> tuple[TagFact, ...]:
        rank = self.project.config.classifications.rank
        at = ColumnRef(target.key, name)
        facts = (TagFact(tag, at, at, inside, declared=True) for tag, inside in tags)
        return tuple(sorted(facts, key=lambda each: (rank(each.tag), each.tag, each.field)))

    def _faces(self, target: Target) -> Iterator[SourceTable]:
        """The sources of the project that are a table: one that it found, and declared ones."""
        own = self.project.sources.get(target.key)
        if own is not None:
            yield own
        place = _place(self.project, own) if own is not None else None
        for each in {*self._declared.get(target.key, ()), *self._declared.get(place or "", ())}:
            source = self.project.sources[each]
            if source is not own:
                yield source

    @cached_property
    def _declared(self) -> Mapping[str, list[str]]:
        """The keys of declared sources that pipelines write, by full name or by place."""
        found: dict[str, list[str]] = {}
        for key in sorted(self.project.writers):
            source = self.project.sources.get(key)
            if source is None or isinstance(source, PipelineTable):
                continue
            full = full_parts(split_name(key))
            place = _place(self.project, source)
            if place is not None or full is not None:
                found.setdefault(place or ".".join(full or ()), []).append(key)
        return found

    def _above(self, target: Target, base: Target | None) -> str | None:
        """The table of the graph that a copy is made from, by its key."""
        if base is not None:
            return self.find(base)
        own = self.project.sources.get(target.key)
        return next((each.lower() for each in getattr(own, "reads", ())), None)

    def find(self, table: Target) -> str | None:
        """The name in the graph of a table of the warehouse; None for one that it does not know."""
        return table.key if table.key in self.project.sources else self._nodes.get(table.key)

    @cached_property
    def _nodes(self) -> Mapping[str, str]:
        """The keys of tables in the graph, by those of their targets."""
        project = self.project
        found = {
            target_of_seed(each, project.config).key: key for key, each in project.seeds.items()
        }
        found |= {each.target.key: key for key, each in project.models.items()}
        for key, source in project.sources.items():
            full = full_parts(split_name(key)) if source.path is None else None
            if full is not None:
                found[".".join(full)] = key
        return found


class _Tags:
    """Tags that are gathered for columns, as they are spelt there."""

    def __init__(self, columns: Sequence[str]) -> None:
        self._columns = columns
        self._spelt = {each.lower(): each for each in columns}
        self.said: dict[str, tuple[str, ...]] = {}

    def place(self, said: ColumnSaid) -> None:
        """Add what is written of columns; what the table has not got is left out."""
        for column, tags in place_tags(said.items(), self._columns).items():
            for tag, inside in tags if column in self._spelt else ():
                self._add(self._spelt[column], tag, inside)

    def carry(self, facts: Classifications, table: str) -> None:
        """Add what the columns of another table have."""
        for column in self._columns:
            for fact in facts.of(table, column):
                self._add(column, fact.tag, fact.field)

    def _add(self, column: str, tag: str, inside: str) -> None:
        name = f"{column}.{inside}" if inside else column
        self.said[name] = tuple(dict.fromkeys((*self.said.get(name, ()), tag)))


def _place(project: Project, source: SourceTable) -> str | None:
    """Where a source lies, in one spelling."""
    if source.path is None or source.format == "table":
        return None
    path = str(source.path)
    return path.rstrip("/") if "://" in path else os.path.normpath(project.root / path)
