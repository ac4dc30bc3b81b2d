"""Where tags go: from the columns at which they are declared along the lineage of every model.

Tables are visited once, each after what it reads. What is read of a model are the packed sources of
its columns; of a project without a declared tag nothing is read at all.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final

from rocky.analysis.classification.declared import ColumnDeclarations, find_declared
from rocky.analysis.classification.facts import (
    NO_COLUMNS,
    NO_FACTS,
    Classifications,
    Columns,
    Declassified,
    TagFact,
)
from rocky.analysis.compilation import (
    Body,
    Compilation,
    CompiledModels,
    Schema,
    unpack_body,
    unpack_schema,
)
from rocky.analysis.lineage import ColumnRef
from rocky.language.functions.tag_rules import ENDS, LOWERS
from rocky.language.ir import LINEAGE_KINDS
from rocky.project import ModelFile, Project
from rocky.project.cache import collector_paused
from rocky.project.configuration.classifications import EVERY_COLUMN, Declassification
from rocky.project.pipeline_tables import PipelineTable

_DIRECT: Final = LINEAGE_KINDS.index("direct")
_Found = dict[tuple[str, str], TagFact]
"""The best fact by tag and field."""


def classify(compilation: Compilation) -> Classifications:
    """The tags of all columns of a compiled project, and which tags decide its rows."""
    return classify_models(compilation.project, compilation.models, compilation.upstream)


def classify_models(
    project: Project, models: CompiledModels, upstream: Mapping[str, Iterable[str]]
) -> Classifications:
    """The same of what a compilation is made from; `upstream` is by declared names."""
    declared = find_declared(project, models.records())
    if not declared:
        return NO_FACTS
    with collector_paused():
        return _Flow(project, models, upstream, declared).run()


def classify_output(
    compilation: Compilation,
    known: Classifications,
    columns: Sequence[str],
    body: Body,
    reads: Iterable[str],
) -> Columns:
    """The tags of the columns of a query over tables whose facts are `known`.

    `reads` are the lower-case names of the tables. Columns need names that differ.
    """
    project = compilation.project
    flow = _Flow(project, compilation.models, compilation.upstream, {})
    return flow.output(known, columns, body, reads) if known else NO_COLUMNS


class _Flow:
    """One walk over the tables of a project."""

    def __init__(
        self,
        project: Project,
        models: CompiledModels,
        upstream: Mapping[str, Iterable[str]],
        declared: Mapping[str, ColumnDeclarations],
    ) -> None:
        self._project = project
        self._models = models
        self._upstream = upstream
        self._declared = declared
        self._inherits = self._project.config.classifications.influence == "inherit"
        self._tables: dict[str, Columns] = {}
        self._open: set[str] = set()
        self._influences: dict[str, tuple[TagFact, ...]] = {}
        self._declassified: list[Declassified] = []
        self._ended: dict[str, dict[str, list[TagFact]]] = {}

    def run(self) -> Classifications:
        for table in tables_in_order(self._project, self._upstream):
            facts = self._facts_of(table)
            if facts:
                self._tables[table] = facts
                if table not in self._models and not self._knows_columns(table):
                    self._open.add(table)
        ended = {
            table: {column: tuple(facts) for column, facts in columns.items()}
            for table, columns in self._ended.items()
        }
        return Classifications(self._tables, self._influences, ended, tuple(self._declassified))

    def _knows_columns(self, table: str) -> bool:
        """Whether all columns of a table are known, so that whatever is read of it has an edge."""
        if table in self._models:
            return unpack_schema(self._models.record(table)).known
        source = self._project.sources.get(table)
        return source is None or bool(source.columns)

    def _facts_of(self, table: str) -> Columns:
        if table in self._models:
            return self._model(table)
        source = self._project.sources.get(table)
        name = source.name if source is not None else self._seed_name(table)
        found: dict[str, _Found] = {}
        if isinstance(source, PipelineTable):
            names = self._fields_of(table)
            for above in source.reads:
                for column, facts in self._tables.get(above.lower(), NO_COLUMNS).items():
                    at = ColumnRef(name, names.get(column, column))
                    _carry(found.setdefault(column, {}), facts, at, whole=False)
        self._add_declared(table, name, found)
        return self._settled(found)

    def _seed_name(self, table: str) -> str:
        seed = self._project.seeds.get(table)
        return seed.name if seed is not None else table

    def _add_declared(self, table: str, name: str, found: dict[str, _Found]) -> None:
        """Add what is declared at a table's columns, unless it came there from another."""
        declared = self._declared.get(table)
        if declared is None:
            return
        fields = self._fields_of(table)
        for column, tags in declared.items():
            at = ColumnRef(name, fields.get(column, column))
            copied = found.get(column, {}) if self._is_copy(table) else {}
            made = (
                TagFact(tag, at, at, field, declared=True)
                for tag, field in tags
                if (tag, field) not in copied
            )
            _add(found.setdefault(column, {}), made)

    def _is_copy(self, table: str) -> bool:
        return isinstance(self._project.sources.get(table), PipelineTable)

    def _fields_of(self, table: str) -> dict[str, str]:
        if table in self._models:
            columns = unpack_schema(self._models.record(table)).columns
            return {name.lower(): name for name, _, _ in columns}
        declared = self._project.sources.get(table) or self._project.seeds.get(table)
        return {each.name.lower(): each.name for each in declared.columns} if declared else {}

    def _model(self, key: str) -> Columns:
        model, record = self._project.models[key], self._models.record(key)
        reads = [each.lower() for each in record.reads]
        above = any(each in self._tables for each in reads)
        if not above and key not in self._declared:
            if any(each in self._influences for each in reads):
                self._influences[key] = self._influences_of(reads, ())
            return NO_COLUMNS
        found, schema = {}, unpack_schema(record)
        if not schema.known:
            self._open.add(key)
        if above:
            found = self._inherited(model.name, schema, unpack_body(record), reads)
        if record.names_columns and model.settings.declassify:
            self._declassify(key, model.settings.declassify, found)
        self._add_declared(key, model.name, found)
        if record.names_columns and model.settings.declassify and model.outer_classification:
            self._release(model, found)
        return self._settled(found)

    def output(
        self, known: Classifications, columns: Sequence[str], body: Body, reads: Iterable[str]
    ) -> Columns:
        """What the columns of a query have that is no model's."""
        for table in known:
            self._tables[table] = known.table(table)
        tables = tuple(reads)
        self._open = {each for each in tables if not self._knows_columns(each)} & {*self._tables}
        self._influences = {each: found for each in tables if (found := known.influences(each))}
        schema = Schema([(each, "", True) for each in columns], known=True)
        return self._settled(self._inherited("", schema, body, tables))

    def _inherited(
        self, name: str, schema: Schema, body: Body, reads: Iterable[str]
    ) -> dict[str, _Found]:
        """What the columns of a model have from the tables that it reads."""
        found: dict[str, _Found] = {}
        tagged = self._read(body.origins)
        shares = {(each.column, each.origin): each.ways for each in body.shares}
        columns = enumerate(zip(schema.columns, body.details, strict=True))
        for index, ((column, _, _), (_, _, _, sources)) in columns:
            here: _Found = {}
            for source in sources:
                facts = tagged[source >> 3]
                if facts:
                    at, whole = ColumnRef(name, column), source & 7 != _DIRECT
                    ways = shares.get((index, source >> 3)) if shares else None
                    if ways is None:
                        _carry(here, facts, at, whole=whole)
                    else:
                        _add(here, self._through(facts, ways, at, whole=whole))
            if here:
                found[column.lower()] = here
        every = [] if schema.known else [EVERY_COLUMN]
        for table in reads:
            # What is read of a table of unknown columns has no lineage: it may be anywhere.
            for facts in self._facts_in(table) if table in self._open else ():
                for column in (*every, *(each for each, _, _ in schema.columns)):
                    here = found.setdefault(column.lower(), {})
                    _carry(here, facts, ColumnRef(name, column), whole=True)
        deciding = [fact for origin, _ in body.influences for fact in tagged[origin]]
        influences = self._influences_of(reads, deciding)
        if influences:
            self._influences[name.lower()] = influences
        if influences and self._inherits:
            for column, _, _ in schema.columns:
                here = found.setdefault(column.lower(), {})
                _carry(here, influences, ColumnRef(name, column), whole=True)
        return found

    def _facts_in(self, table: str) -> Iterable[tuple[TagFact, ...]]:
        return self._tables.get(table, NO_COLUMNS).values()

    def _declassify(
        self, key: str, said: Iterable[Declassification], found: dict[str, _Found]
    ) -> None:
        """Take tags off that came with values; what is declared at the model itself stays."""
        for index, each in enumerate(said):
            name, field = each.column.lower(), ""
            if name not in found and "." in name:
                name, _, field = name.partition(".")
            facts = found.get(name, {})
            for tag, inside in [at for at in facts if at[0] == each.tag]:
                if not field or inside == field:
                    fact = facts.pop((tag, inside))
                    self._declassified.append(Declassified(key, index, fact))

    def _release(self, model: ModelFile, found: dict[str, _Found]) -> None:
        """Take tags off that the folder or the group gives; what a contract promises stays."""
        outer = {name.lower(): tags for name, tags in model.outer_classification.items()}
        contract = self._project.contracts.get(model.key)
        promised = {
            (column.name.lower(), tag)
            for column in (contract.columns if contract is not None else ())
            for tag in column.classification or ()
        }
        for index, each in enumerate(model.settings.declassify):
            name, _, field = each.column.lower().partition(".")
            given = (*outer.get(each.column.lower(), ()), *outer.get(EVERY_COLUMN, ()))
            fact = found.get(name, {}).get((each.tag, field))
            if each.tag in given and (name, each.tag) not in promised and fact is not None:
                del found[name][each.tag, field]
                self._declassified.append(Declassified(model.key, index, fact))

    def _through(
        self,
        facts: Iterable[TagFact],
        ways: Iterable[tuple[str, int]],
        at: ColumnRef,
        *,
        whole: bool,
    ) -> Iterator[TagFact]:
        """The facts of a column that is made from one with these, in these ways."""
        for fact in facts:
            ways_here = [effect for path, effect in ways if _overlaps(path, fact.field)]
            effect = min(ways_here, default=ENDS)
            if effect == ENDS:
                if ways_here:
                    ended = self._ended.setdefault(at.table.lower(), {})
                    ended.setdefault(at.column.lower(), []).append(fact)
                continue
            tag = self._lower(fact) if effect == LOWERS else fact.tag
            # Of a part of a column it is not known where in the result its fields are.
            kept = "" if whole or any(path for path, _ in ways) else fact.field
            yield _onward(fact, at, tag, kept, lowered=fact.lowered or effect == LOWERS)

    def _lower(self, fact: TagFact) -> str:
        """The next lower tag; the same for the lowest, for one without order, and a second time."""
        order = self._project.config.classifications.order
        if fact.lowered or fact.tag not in order[:-1]:
            return fact.tag
        return order[order.index(fact.tag) + 1]

    def _read(self, origins: Iterable[tuple[str, str]]) -> list[tuple[TagFact, ...]]:
        """The facts of columns that a model reads, one after the other."""
        tables: dict[str, Columns] = {}
        found: list[tuple[TagFact, ...]] = []
        for table, column in origins:
            columns = tables.get(table)
            if columns is None:
                columns = tables[table] = self._tables.get(table.lower(), NO_COLUMNS)
            if not columns:
                found.append(())
                continue
            facts = columns.get(column.lower())
            found.append(columns.get(EVERY_COLUMN, ()) if facts is None else facts)
        return found

    def _settled(self, found: Mapping[str, _Found]) -> Columns:
        """Facts by column, the highest tag first; a tag of a whole column stands for its fields."""
        return {
            column: tuple(facts.values())
            if len(facts) == 1
            else tuple(sorted(_without_parts(facts), key=self._rank))
            for column, facts in found.items()
            if facts
        }

    def _rank(self, fact: TagFact) -> tuple[int, str, str]:
        return self._project.config.classifications.rank(fact.tag), fact.tag, fact.field

    def _influences_of(
        self, reads: Iterable[str], deciding: Iterable[TagFact]
    ) -> tuple[TagFact, ...]:
        """One fact a tag, the nearest first found: of this query, then of the tables it reads."""
        found: dict[str, TagFact] = {}
        for fact in deciding:
            found.setdefault(fact.tag, fact)
        for table in reads:
            for fact in self._influences.get(table, ()):
                found.setdefault(fact.tag, fact)
        return tuple(found.values())


def _onward(fact: TagFact, at: ColumnRef, tag: str, field: str, *, lowered: bool) -> TagFact:
    """The fact of a column that is made from one that has a fact."""
    return TagFact(tag, fact.origin, at, field, False, lowered, fact, fact.distance + 1)


def _overlaps(path: str, field: str) -> bool:
    """Whether one of two places inside a column is in the other; "" is all of the column."""
    return (
        not path
        or not field
        or path == field
        or path.startswith(f"{field}.")
        or field.startswith(f"{path}.")
    )


def _carry(found: _Found, facts: Iterable[TagFact], at: ColumnRef, *, whole: bool) -> None:
    """Add the facts of a column to those of one that is made from it and keeps its tags.

    Nearly every way is such a one: a fact is only made where it stays.
    """
    for fact in facts:
        field = "" if whole else fact.field
        key = fact.tag, field
        known = found.get(key)
        if known is None or _is_better(fact, known):
            found[key] = _onward(fact, at, fact.tag, field, lowered=fact.lowered)


def _is_better(before: TagFact, known: TagFact) -> bool:
    """Whether the next fact after one tells more than one that is known.

    One that was lowered stays: what follows it must not be lowered again.
    """
    if before.lowered != known.lowered:
        return before.lowered
    return before.distance + 1 < known.distance


def _add(found: _Found, facts: Iterable[TagFact]) -> None:
    """Add facts of a column: of one tag and field the nearest stays."""
    for fact in facts:
        known = found.get((fact.tag, fact.field))
        if known is None or fact.declared or _is_better(fact.before or fact, known):
            found[fact.tag, fact.field] = fact


def _without_parts(facts: _Found) -> list[TagFact]:
    # The whole may have its tag from a field that came masked: what is declared of another holds.
    whole = {tag for tag, field in facts if not field}
    return [x for (tag, path), x in facts.items() if not path or x.declared or tag not in whole]


def tables_in_order(project: Project, upstream_of: Mapping[str, Iterable[str]]) -> Iterator[str]:
    """The lower-case names of all tables, each after those it reads; cycles begin anywhere."""
    upstream = {name.lower(): reads for name, reads in upstream_of.items()}
    seen: set[str] = set()
    for start in (*project.sources, *project.seeds, *project.models):
        waiting = [(start, iter(upstream.get(start, ())))] if start not in seen else []
        seen.add(start)
        while waiting:
            table, reads = waiting[-1]
            unseen = next((each.lower() for each in reads if each.lower() not in seen), None)
            if unseen is None:
                waiting.pop()
                yield table
            else:
                seen.add(unseen)
                waiting.append((unseen, iter(upstream.get(unseen, ()))))
