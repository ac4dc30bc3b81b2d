"""Lowering: a plan of PySpark's client becomes the SQL that Rocky's binder reads.

Each relation is a layer, a named query over those below it; each expression is SQL text with the
call it stands for. Types, nullability, lineage and findings are then those of SQL: here are no
rules about them. What has no SQL is a gap: noted with its reason, unknown in its place, never
guessed. A name of a function that nobody could write stands for code with a declared result.
"""

import re
from collections.abc import Iterable, Sequence
from typing import Final, NamedTuple

from rocky.diagnostics import Code
from rocky.frames.fragments import Fragment, joined, sql
from rocky.frames.layers import Layer, LayerColumn, every_layer, unique_names, written
from rocky.frames.sites import Site
from rocky.language.binder.query import BoundQuery, bind_text
from rocky.language.datatypes import types as t
from rocky.language.datatypes.types import DataType, StructField
from rocky.language.declared_functions import DeclaredFunction, FunctionParameter
from rocky.language.tables import Table, Tables

_MOST_ARGUMENTS: Final = 256
_ANY_ARGUMENTS: Final = tuple(
    FunctionParameter(f"a{at}", t.UNKNOWN, optional=True) for at in range(_MOST_ARGUMENTS)
)
UNKNOWN: Final = "not_lowered"
"""The function that stands for a value of which nothing is known."""


class Gap(NamedTuple):
    """Something of a plan that has no SQL here, and why."""

    reason: str
    site: Site | None


class Finding(NamedTuple):
    """A mistake that shows before there is SQL to bind."""

    code: Code
    message: str
    site: Site | None
    help: str | None = None
    condition: str | None = None


class Item(NamedTuple):
    """One entry of a select list. `name` is None where Spark makes one up.

    `several` tells that it may give more than one column, called `names` where the author did.
    """

    fragment: Fragment
    name: str | None = None
    origin: tuple[int, int] | None = None
    hidden: bool = False
    qualifier: tuple[str, ...] = ()
    names: tuple[str, ...] = ()
    several: bool = False


class PlanTables:
    """The tables that the SQL of a plan reads: layers, and below them the project's.

    Functions are those that stand for code of the plan, and below them the project's.
    """

    def __init__(self, project: Tables) -> None:
        self._project = project
        self.layers: dict[str, Layer] = {}
        self.functions: dict[str, DeclaredFunction] = {}

    def find(self, parts: tuple[str, ...]) -> Table | None:
        layer = self.layers.get(parts[0]) if len(parts) == 1 else None
        if layer is not None:
            return Table(layer.name, layer.fields, (layer.name,), layer.known)
        return self._project.find(parts)

    def undeclared(self, parts: tuple[str, ...]) -> Table | None:
        return self._project.undeclared(parts)

    def function(self, parts: tuple[str, ...]) -> DeclaredFunction | None:
        own = self.functions.get(parts[0]) if len(parts) == 1 else None
        return own or self._project.function(parts)

    def function_names(self) -> Iterable[str]:
        return self._project.function_names()

    @property
    def declares_functions(self) -> bool:
        return bool(self.functions) or self._project.declares_functions

    def names(self) -> Iterable[str]:
        return self._project.names()


class Lowering:
    """One plan on its way to SQL."""

    def __init__(self, tables: Tables, wanted: frozenset[str]) -> None:
        """`wanted` are names, in lower case, that the plan takes from one certain frame."""
        self.tables = PlanTables(tables)
        self.wanted = wanted
        self.by_plan: dict[int, Layer] = {}
        self.views: dict[str, Layer] = {}
        self.subqueries: list[Layer] = []
        self.gaps: list[Gap] = []
        self.shown: dict[str, str] = {}
        self.findings: list[Finding] = []

    def gap(self, reason: str, site: Site | None) -> None:
        """Note, once, something that has no SQL."""
        if all(each.reason != reason for each in self.gaps):
            self.gaps.append(Gap(reason, site))

    def unknown_value(self, site: Site | None, *arguments: Fragment) -> Fragment:
        """A value of which only what it is made from is known."""
        name = self.function(UNKNOWN, None, b"")
        return sql(f"{name}(", joined(", ", arguments), ")", site=site)

    def unknown_rows(self, reason: str, site: Site | None, *inputs: Layer) -> Layer:
        """A layer of which no column is known."""
        self.gap(reason, site)
        layer = Layer(self._next_name(), (), known=False, inputs=inputs)
        self.tables.layers[layer.name] = layer
        return layer

    def function(
        self,
        name: str,
        returns: DataType | None,
        digest: bytes,
        *,
        columns: tuple[StructField, ...] | None = None,
        aggregate: bool = False,
        deterministic: bool | None = None,
    ) -> str:
        """The name under which code with that result can be called in the SQL of the plan."""
        plain = "".join(c if c.isalnum() or c == "_" else "_" for c in name) or "code"
        made = DeclaredFunction(
            plain,
            "python",
            _ANY_ARGUMENTS,
            returns,
            columns,
            deterministic=deterministic,
            aggregate=aggregate,
            digest=digest,
        )
        number = 1
        key = plain.lower()
        while (taken := self.tables.functions.get(key)) is not None and taken != made:
            number += 1
            key = f"{plain}_{number}".lower()
        self.tables.functions[key] = made
        called = key if number > 1 else plain
        if called != name:
            self.shown[called] = name
        return called

    def bind(self, text: str) -> BoundQuery:
        """What the binder finds out of a query over layers."""
        return bind_text(text, self.tables)

    def type_of(self, value: Fragment, source: Fragment) -> tuple[DataType, bool]:
        """The type and nullability of a value over FROM and what follows."""
        bound = self.bind(sql("SELECT ", value, source).text)
        if len(bound.columns) != 1:
            return t.UNKNOWN, True
        return bound.columns[0].type, bound.columns[0].nullable

    def select(
        self,
        inputs: tuple[Layer, ...],
        items: Sequence[Item],
        rest: Fragment | str = "",
        *,
        source: Fragment | None = None,
        distinct: bool = False,
        lasting: bool = True,
    ) -> Layer:
        """A layer that selects the items from its first input, or from `source`.

        `lasting` says that a filter on top may still see columns which it leaves out.
        """
        table = source or sql(" FROM ", inputs[0].name)
        whole = inputs[0] if source is None and inputs[0].known else None
        head = "SELECT DISTINCT " if distinct else "SELECT "
        draft = sql(head, _listed(items, [each.name for each in items], whole), table, rest)
        bound = self.bind(draft.text)
        columns, names = _columns_of(items, bound, {**self.shown, **_renamed(inputs)})
        body = sql(head, _listed(items, names, whole), table, rest)
        layer = self.layer(body, columns, inputs, known=bound.known)
        if lasting and source is None and not distinct:

            def exposed(child: Layer, at: int) -> Layer:
                return self.select((child,), [*items, _hidden(child, at)], rest)

            layer.exposed = exposed
        return layer

    def layer(
        self,
        body: Fragment,
        columns: tuple[LayerColumn, ...],
        inputs: tuple[Layer, ...],
        *,
        known: bool = True,
    ) -> Layer:
        """A layer with a name of its own."""
        layer = Layer(self._next_name(), columns, known, inputs, body)
        self.tables.layers[layer.name] = layer
        return layer

    def query(self, body: Fragment, inputs: tuple[Layer, ...]) -> Layer:
        """A layer of a whole query, whose columns are those that the binder finds."""
        bound = self.bind(body.text)
        names = [(each.name or "", False) for each in bound.columns]
        columns = tuple(
            LayerColumn(name, own, each.type, each.nullable)
            for (name, _), own, each in zip(names, unique_names(names), bound.columns, strict=True)
        )
        if any(each.name != each.sql for each in columns):
            listed = ", ".join(written(each.sql) for each in columns)
            body = sql("SELECT * FROM (", body, f") AS q({listed})")
        return self.layer(body, columns, inputs, known=bound.known)

    def _next_name(self) -> str:
        return f"frame_{len(self.tables.layers) + 1}"


def passed_on(layer: Layer, at: int = 0, alias: str | None = None) -> list[Item]:
    """The columns of an input as they are, hidden ones included; `at` is the input's place."""
    if not layer.known:
        return [Item(sql(f"{alias}.*" if alias else "*"), several=True)]
    prefix = f"{alias}." if alias else ""
    return [
        Item(
            sql(prefix + written(each.sql)),
            each.name,
            (at, index),
            each.hidden,
            each.qualifier,
        )
        for index, each in enumerate(layer.columns)
    ]


def finished_query(top: Layer, beside: Sequence[Layer] = ()) -> Fragment:
    """The whole query: layers as common tables, the last one with the names that people see.

    `beside` are layers that only subqueries read.
    """
    every = {id(each): each for start in (*beside, top) for each in every_layer(start)}
    layers = [each for each in every.values() if each.body is not None]
    plain = [each.name == each.sql and not each.hidden for each in top.columns]
    if top.body is None or not all(plain):
        listed = ", ".join(
            written(each.sql)
            if each.sql == each.name
            else f"{written(each.sql)} AS {written(each.name)}"
            for each in top.visible
        )
        main = sql(f"SELECT {listed if top.known and top.columns else '*'} FROM {top.name}")
    else:
        main = top.body
        layers.remove(top)
    if not layers:
        return main
    common = joined(
        ",\n", [sql(f"{each.name} AS (\n  ", each.body or "", "\n)") for each in layers]
    )
    return sql("WITH ", common, "\n", main)


def _hidden(child: Layer, at: int) -> Item:
    column = child.columns[at]
    return Item(
        sql(written(column.sql)), column.name, (0, at), hidden=True, qualifier=column.qualifier
    )


def _listed(items: Sequence[Item], names: Sequence[str | None], whole: Layer | None) -> Fragment:
    """The select list; where it begins with all columns of the layer `whole`, with a star."""
    columns = whole.columns if whole is not None else ()
    starred = 0 < len(columns) <= len(items) and all(
        items[at].origin == (0, at) and names[at] == each.sql for at, each in enumerate(columns)
    )
    listed = [sql("*")] if starred else []
    first = len(columns) if starred else 0
    for item, name in zip(items[first:], names[first:], strict=True):
        if item.several:
            several = ", ".join(written(each) for each in item.names)
            listed.append(sql(item.fragment, f" AS ({several})") if several else item.fragment)
        elif name is None or (item.origin is not None and item.fragment.text == written(name)):
            listed.append(item.fragment)
        else:
            listed.append(sql(item.fragment, f" AS {written(name)}"))
    return joined(", ", listed)


def _columns_of(
    items: Sequence[Item], bound: BoundQuery, renamed: dict[str, str]
) -> tuple[tuple[LayerColumn, ...], list[str | None]]:
    """The columns of a select list, and the name in SQL that each of its items must have."""
    at = next((at for at, each in enumerate(items) if each.several), None)
    extra = len(bound.columns) - len(items)
    if at is not None and extra >= 0:
        spread = [*items[:at], *[items[at]] * (extra + 1), *items[at + 1 :]]
    elif extra == 0:
        spread = list(items)
    else:
        spread = []
    if len(spread) != len(bound.columns) or not bound.known:
        plain = tuple(
            LayerColumn(each.name or "", each.name or "", each.type, each.nullable)
            for each in bound.columns
        )
        return plain, [each.name for each in items]
    named = [
        (
            (item.name if not item.several else None) or _seen(column.name or "", renamed),
            item.hidden,
        )
        for item, column in zip(spread, bound.columns, strict=True)
    ]
    own = unique_names(named)
    columns = tuple(
        LayerColumn(
            name, sql_name, column.type, column.nullable, item.origin, hidden, item.qualifier
        )
        for item, column, (name, hidden), sql_name in zip(
            spread, bound.columns, named, own, strict=True
        )
    )
    names: list[str | None] = []
    for index, item in enumerate(items):
        place = index if at is None or index <= at else index + extra
        unnamed = item.name is None and own[place] == bound.columns[place].name
        names.append(None if unnamed or item.several else own[place])
    return columns, names


def _renamed(inputs: Sequence[Layer]) -> dict[str, str]:
    """The names that people see, by those in SQL which differ."""
    return {
        each.sql: each.name for layer in inputs for each in layer.columns if each.sql != each.name
    }


def _seen(printed: str, renamed: dict[str, str]) -> str:
    """A printed name with the names of columns that people see."""
    for own, name in renamed.items():
        if own in printed:
            shown = name.replace("\\", "\\\\")
            printed = re.sub(rf"(?<!\w){re.escape(own)}(?!\w)", shown, printed)
    return printed
