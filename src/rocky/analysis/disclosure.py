"""Disclosure: what a person may see of the values of classified columns.

Whatever shows rows asks here what is hidden in a column, and has each value said by `shown`. Where
it is not known what a column is made of, it is hidden: that of a model that does not compile, and
that of a table which the project no longer has, if a column of that name has a tag anywhere.
"""

from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from typing import Any, Final

from rocky.analysis.classification import Classifications, TagFact, classify, classify_output
from rocky.analysis.classification.patterns import every_pattern
from rocky.analysis.compilation import Body, Compilation, unpack_schema
from rocky.analysis.lineage import ColumnRef
from rocky.diagnostics import Severity
from rocky.project.collisions import target_of_seed
from rocky.project.configuration.classifications import join_tags
from rocky.project.configuration.clear_values import clear_tags
from rocky.project.configuration.column_patterns import ColumnPattern

Secrets = tuple[TagFact, ...]
"""The tags for which a column's values are hidden; none for one whose values are shown."""

NO_SECRETS: Final[Secrets] = ()
_SPEAKS_OF_TAGS: Final = "classif"


def shown(value: Any, secrets: Secrets) -> Any:
    """A value as it may be shown: itself, or in its place a text that says why it is hidden.

    A null is shown: that there is no value is no value. Of a struct only the fields with tags are
    hidden, as far as they can be told from the others.
    """
    if value is None or not secrets:
        return value
    if all(each.field for each in secrets) and isinstance(value, Mapping | list):
        return _without_fields(value, secrets, [each.field.lower().split(".") for each in secrets])
    return hidden_text(secrets)


def hidden_text(secrets: Secrets) -> str:
    """What stands in the place of a value."""
    return f"(hidden: {tags_text(secrets)})"


def tags_text(secrets: Secrets) -> str | None:
    """The tags for which a column is hidden, as one text; None for one that is shown."""
    return join_tags(tuple(dict.fromkeys(each.tag for each in secrets))) if secrets else None


def origin_of(secrets: Secrets) -> str | None:
    """The column at which the first of some tags was given."""
    return f"{secrets[0].origin.table}.{secrets[0].origin.column}" if secrets else None


def _without_fields(value: Any, secrets: Secrets, paths: Sequence[Sequence[str]]) -> Any:
    if value is None or not paths:
        return value
    if isinstance(value, Mapping):
        return {
            name: _without_fields(
                each, secrets, [path[1:] for path in paths if path and path[0] == name.lower()]
            )
            for name, each in value.items()
        }
    if isinstance(value, list) and all(paths) and not any(isinstance(v, tuple) for v in value):
        return [_without_fields(each, secrets, paths) for each in value]
    return hidden_text(secrets)


class Disclosure:
    """What one person may see of a compiled project's values.

    Without a `person` it is what anybody may see: so is what is kept, in the ledger, in logs and on
    pages, whoever made it.
    """

    def __init__(self, compilation: Compilation, person: str | None = None) -> None:
        self._compilation = compilation
        self._project = compilation.project
        config = self._project.config
        self._clear = clear_tags(config.classifications.tags, config.role, person)

    @cached_property
    def facts(self) -> Classifications:
        """The tags of all columns."""
        return classify(self._compilation)

    def __bool__(self) -> bool:
        """Whether there is anything to hide."""
        return bool(self.everything)

    def in_column(self, table: str, column: str) -> Secrets:
        """What is hidden in a column of a table, by the name that the project has for it."""
        if not self:
            return NO_SECRETS
        key, name = table.lower(), column.lower()
        if self._unread or key in self._unsure:
            return self.everything
        found = self._kept(self.facts.of(key, name))
        if found or name in self._columns_of(key):
            return found
        return (
            *self._by_name.get(name, NO_SECRETS),
            *(each for pattern, facts in self._patterns if pattern.fits(name) for each in facts),
        )

    def in_stored(self, full_name: str, columns: Iterable[str]) -> tuple[Secrets, ...]:
        """What is hidden in columns of a table that is stored under a full name."""
        key = self._keys_by_target.get(full_name.lower(), full_name) if self else full_name
        return tuple(self.in_column(key, each) for each in columns)

    def in_query(
        self, columns: int, body: Body, reads: Iterable[str], *, known: bool
    ) -> tuple[Secrets, ...]:
        """What is hidden in the columns of a query; `reads` are names of tables.

        Without `known` it has columns that are not among those counted: all are hidden, if any
        table that is read has one that is.
        """
        tables = [each.lower() for each in reads]
        if not self:
            return (NO_SECRETS,) * columns
        if self._unread or any(each in self._unsure for each in tables):
            return (self.everything,) * columns
        if not known:
            return (self.in_tables(tables),) * columns
        names = [str(index) for index in range(columns)]
        found = classify_output(self._compilation, self.facts, names, body, tables)
        return tuple(self._kept(found.get(each, NO_SECRETS)) for each in names)

    def in_tables(self, tables: Iterable[str]) -> Secrets:
        """What is hidden in any column of some tables."""
        found: dict[str, TagFact] = {}
        for table in tables if self else ():
            if self._unread or table.lower() in self._unsure:
                return self.everything
            for facts in self.facts.table(table).values():
                for each in self._kept(facts):
                    found.setdefault(each.tag, each)
        return tuple(found.values())

    def _kept(self, facts: Secrets) -> Secrets:
        """Those of some facts that this person may not see past."""
        if not self._clear or not facts:
            return facts
        return tuple(each for each in facts if each.tag not in self._clear)

    @cached_property
    def everything(self) -> Secrets:
        """One fact for every tag that is hidden anywhere."""
        found = {each.tag: each for each in self._unread}
        found |= {each.tag: each for _, facts in self._patterns for each in facts}
        for facts in self._by_name.values():
            for each in facts:
                found.setdefault(each.tag, each)
        return tuple(found.values())

    @cached_property
    def _patterns(self) -> Sequence[tuple[ColumnPattern, Secrets]]:
        """What is hidden in columns of pipelines' tables of which nobody knows yet."""
        found = []
        for pipeline, pattern in every_pattern(self._project):
            place = ColumnRef(f"pipeline {pipeline}", pattern.written)
            facts = (
                TagFact(tag, place, place, pattern.field, declared=True) for tag in pattern.tags
            )
            found.append((pattern, self._kept(tuple(facts))))
        return found

    @cached_property
    def _unread(self) -> Secrets:
        """What stands for tags in files that cannot be read as they should."""
        for each in self._compilation.diagnostics:
            path = each.path or ""
            if each.severity is Severity.ERROR and path.endswith(".toml"):
                text = self._project.texts.get(path)
                if text is not None and _SPEAKS_OF_TAGS in text.text:
                    place = ColumnRef(path, "*")
                    return (TagFact(f"{path} has errors", place, place),)
        return NO_SECRETS

    @cached_property
    def _by_name(self) -> Mapping[str, Secrets]:
        """What is hidden in columns of a name, in whatever table."""
        found: dict[str, Secrets] = {}
        for table in self.facts:
            for column, facts in self.facts.table(table).items():
                found[column] = (*found.get(column, ()), *self._kept(facts))
        return found

    @cached_property
    def _unsure(self) -> frozenset[str]:
        """Models that do not compile, and all below them: of those it is not known what is what."""
        broken = {
            (each.model or "").lower()
            for each in self._compilation.diagnostics
            if each.severity is Severity.ERROR and each.model is not None
        }
        waiting = list(broken)
        below = {name.lower(): reads for name, reads in self._compilation.downstream.items()}
        while waiting:
            for each in below.get(waiting.pop(), ()):
                if each.lower() not in broken:
                    broken.add(each.lower())
                    waiting.append(each.lower())
        return frozenset(broken)

    def _columns_of(self, key: str) -> frozenset[str]:
        """The columns that the project knows a table to have, in lower case."""
        if key in self._compilation.models:
            columns = unpack_schema(self._compilation.models.record(key)).columns
            return frozenset(name.lower() for name, _, _ in columns)
        declared = self._project.sources.get(key) or self._project.seeds.get(key)
        return (
            frozenset(each.name.lower() for each in declared.columns) if declared else frozenset()
        )

    @cached_property
    def _keys_by_target(self) -> Mapping[str, str]:
        """The project's names of tables by the full names under which they are stored."""
        found = {
            target_of_seed(each, self._project.config).full_name.lower(): key
            for key, each in self._project.seeds.items()
        }
        for key, model in self._project.models.items():
            found[model.target.full_name.lower()] = key
        return found
