"""Where a tag goes: every column that has it, since where, what it decides, and where it ends."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Annotated

from rocky.analysis.classification import Classifications, TagFact, classify
from rocky.analysis.compilation import Compilation
from rocky.errors import NothingSelected
from rocky.operations.digest import Digest, counts
from rocky.operations.graph.layered_graph import Graph, Node
from rocky.operations.graph.lineage_report import ColumnPlace, Drawn, Kind
from rocky.operations.report import hidden
from rocky.operations.workspace import broken_models, unknown_name
from rocky.project.toml.variables import written


@dataclass(frozen=True, slots=True)
class TaggedColumn:
    """A column that has the tag; `path` leads from the column at which it was declared.

    `field` is the part of the column that has it, None for all of it. A `lowered` one came through
    a call that lowers a tag to this one.
    """

    model: str
    column: str
    declared: bool
    path: tuple[ColumnPlace, ...]
    field: str | None = None
    lowered: bool = False


@dataclass(frozen=True, slots=True)
class TagInfluence:
    """A model whose rows a tagged column decides, without being in a value there."""

    model: str
    source: ColumnPlace


@dataclass(frozen=True, slots=True)
class TagEnd:
    """A column that is made from a tagged one by a call that ends the tag."""

    model: str
    column: str
    source: ColumnPlace


@dataclass(frozen=True, slots=True)
class TagTakenOff:
    """A column that was declassified: why, and who approved it."""

    model: str
    column: str
    source: ColumnPlace
    reason: str
    approved_by: str


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class TagLineage(Drawn):
    """Everything that is known of where a tag goes.

    Of `broken` models, which do not compile, nobody knows whether it goes there.
    """

    classification: str
    columns: tuple[TaggedColumn, ...]
    influences: tuple[TagInfluence, ...]
    ended: tuple[TagEnd, ...]
    declassified: tuple[TagTakenOff, ...]
    kinds: Annotated[Mapping[str, Kind], hidden]
    broken: tuple[str, ...] = ()

    def digest(self) -> Digest:
        title = f"the tag {self.classification}: {counts(column=len(self.columns))}"
        rows = [(str(each.path[-1]), str(each.path[0])) for each in self.columns]
        return Digest(title, ("column", "declared at"), rows, len(rows))

    def graph_of(self) -> Graph:
        places = dict.fromkeys(place for each in self.columns for place in each.path)
        nodes = {
            str(each): Node(each.column, self.kinds.get(each.model, "model"), above=each.model)
            for each in places
        }
        hops = dict.fromkeys(
            (str(one), str(two), "")
            for each in self.columns
            for one, two in zip(each.path, each.path[1:], strict=False)
        )
        return Graph(f"lineage of the tag {self.classification}", nodes, list(hops))


def tag_lineage(compilation: Compilation, tag: str, table: str | None) -> TagLineage:
    """Where a tag goes, in the whole project or in one table. Raises NothingSelected."""
    facts = classify(compilation)
    known = {fact.tag for key in facts for found in facts.table(key).values() for fact in found}
    known.update(compilation.project.config.classifications.tags)
    if tag not in known:
        raise NothingSelected(unknown_name("tag", tag, known))
    wanted = [*facts, *(key for key in compilation.models if not facts.table(key))]
    tables = [key for key in sorted(wanted) if table is None or key == table.lower()]
    return TagLineage(
        classification=tag,
        columns=tuple(each for key in tables for each in _columns(facts, key, tag)),
        influences=tuple(
            each for key in tables for each in _influences(compilation, facts, key, tag)
        ),
        ended=tuple(each for key in tables for each in _ended(compilation, facts, key, tag)),
        declassified=tuple(_taken_off(compilation, facts, tag, table)),
        kinds=_kinds(compilation),
        broken=tuple(sorted(broken_models(compilation))),
    )


def _columns(facts: Classifications, key: str, tag: str) -> Iterator[TaggedColumn]:
    for found in facts.table(key).values():
        for fact in found:
            if fact.tag == tag:
                yield TaggedColumn(
                    fact.column.table,
                    fact.column.column,
                    fact.declared,
                    tuple(ColumnPlace(*each) for each in fact.path),
                    fact.field or None,
                    fact.lowered,
                )


def _influences(
    compilation: Compilation, facts: Classifications, key: str, tag: str
) -> Iterator[TagInfluence]:
    for fact in facts.influences(key):
        if fact.tag == tag:
            yield TagInfluence(_name(compilation, key), _place(fact))


def _ended(
    compilation: Compilation, facts: Classifications, key: str, tag: str
) -> Iterator[TagEnd]:
    ir = compilation.models.get(key)
    for column, found in facts.ended(key).items():
        made = ir.column(column) if ir is not None else None
        name = made.name if made is not None else column
        has = {each.tag for each in facts.of(key, column)}
        for place in dict.fromkeys(_place(each) for each in found if each.tag == tag):
            if tag not in has:
                yield TagEnd(_name(compilation, key), name, place)


def _taken_off(
    compilation: Compilation, facts: Classifications, tag: str, table: str | None
) -> Iterator[TagTakenOff]:
    for each in facts.declassified:
        if each.fact.tag != tag or (table is not None and each.model != table.lower()):
            continue
        said = compilation.project.models[each.model].settings.declassify[each.place]
        before = each.fact.before or each.fact
        yield TagTakenOff(
            each.fact.column.table,
            each.fact.column.column,
            _place(before),
            str(written(said.reason)),
            str(written(said.approved_by)),
        )


def _place(fact: TagFact) -> ColumnPlace:
    return ColumnPlace(*fact.column)


def _name(compilation: Compilation, key: str) -> str:
    model = compilation.project.models.get(key)
    return model.name if model is not None else key


def _kinds(compilation: Compilation) -> dict[str, Kind]:
    project = compilation.project
    found: dict[str, Kind] = {each.name: "source" for each in project.sources.values()}
    found |= {each.name: "seed" for each in project.seeds.values()}
    return found | {each.name: "model" for each in project.models.values()}
