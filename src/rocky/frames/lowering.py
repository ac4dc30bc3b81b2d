"""Lowering: a plan of PySpark's client becomes the SQL that Rocky's binder reads.

Each relation is a layer, a named query over those below it; each expression is SQL text with the
call it stands for. Types, nullability, lineage and findings are then those of SQL: here are no
rules about them. What has no SQL is a gap: noted with its reason, unknown in its place, never
guessed. A name of a function that nobody could write stands for code with a declared result.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Final, NamedTuple, Protocol

from rocky.diagnostics import Code
from rocky.frames.clauses import clauses_of, fused_bodies
from rocky.frames.column_identity import SelfJoins
from rocky.frames.fragments import Fragment, joined, sql
from rocky.frames.layers import (
    LateValue,
    LateValues,
    Layer,
    LayerColumn,
    every_layer,
    unique_names,
    written,
)
from rocky.frames.plan_tables import PlanTables
from rocky.frames.select_list import (
    Item,
    are_named,
    columns_of,
    hidden_item,
    listed_items,
    passed_on,
    renamed_in,
    seen_name,
    widths_of,
    with_own_names,
)
from rocky.frames.sites import Site
from rocky.language.binder.query import BoundQuery, bind_text
from rocky.language.datatypes import types as t
from rocky.language.datatypes.types import DataType, StructField
from rocky.language.declared_functions import DeclaredFunction, FunctionParameter
from rocky.language.functions.catalogue import find_function
from rocky.language.functions.generators import GENERATORS
from rocky.language.functions.special import SPECIAL_KINDS
from rocky.language.tables import Tables

_MOST_ARGUMENTS: Final = 256
_ANY_ARGUMENTS: Final = tuple(
    FunctionParameter(f"a{at}", t.UNKNOWN, optional=True) for at in range(_MOST_ARGUMENTS)
)
TIME_SETTING: Final = ("spark.sql.timeType.enabled", "UNSUPPORTED_TIME_TYPE")
GEO_SETTING: Final = ("spark.sql.geospatial.enabled", "UNSUPPORTED_FEATURE.GEOSPATIAL_DISABLED")
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


class Outer(Protocol):
    """What a subquery sees of the query around it."""

    @property
    def source(self) -> Fragment: ...

    @property
    def names(self) -> Iterable[str]: ...


class Around(NamedTuple):
    """The query around a subquery: its scope, what it reads as FROM, and what is around itself."""

    scope: Any
    source: str
    names: frozenset[str]
    around: "Around | None"


class Lowering:
    """One plan on its way to SQL."""

    def __init__(self, tables: Tables, wanted: frozenset[str]) -> None:
        """`wanted` are names, in lower case, that the plan takes from one certain frame."""
        self.tables = PlanTables(tables)
        self.wanted = wanted
        self.by_plan: dict[int, Layer] = {}
        self.references: dict[int, Any] = {}
        self.around: Around | None = None
        self.lower: Callable[[Any, Lowering], Layer] | None = None
        self.views: dict[str, Layer] = {}
        self.self_joins = SelfJoins()
        self.subqueries: list[Layer] = []
        self.settings: Mapping[str, str] = {}
        self.blind: set[str] = set()
        """Names of registered functions of which no result is known."""
        self.gaps: list[Gap] = []
        self.explained: set[str] = set()
        """Names of layers of which it was said why their columns are not known."""
        self.shown: dict[str, str] = {}
        self.findings: list[Finding] = []

    def gap(self, reason: str, site: Site | None) -> None:
        """Note, once, something that has no SQL."""
        if all(each.reason != reason for each in self.gaps):
            self.gaps.append(Gap(reason, site))

    def unknown_value(self, site: Site | None, name: str | None = None) -> Fragment:
        """A value of which nothing is known but, in places, the name that Spark prints for it."""
        call = self.function(UNKNOWN, None, b"")
        if name is None:
            return sql(f"{call}()", site=site)
        plain = "".join(each if each.isalnum() else "_" for each in name)
        printed = f"{call}('{plain}')"
        self.shown[printed] = name
        return sql(printed, site=site)

    def unknown_rows(self, reason: str | None, site: Site | None, *inputs: Layer) -> Layer:
        """A layer of which no column is known, for a reason; None where that was reported.

        What is unknown because an input is needs no second reason.
        """
        unknown = (below for each in inputs if not each.known for below in every_layer(each))
        if reason is not None and all(each.name not in self.explained for each in unknown):
            self.gap(reason, site)
        layer = Layer(self._next_name(), (), known=False, inputs=inputs)
        self.tables.layers[layer.name] = layer
        self.explained.add(layer.name)
        return layer

    def function(
        self,
        name: str,
        returns: DataType | None,
        digest: bytes,
        *,
        columns: tuple[StructField, ...] | None = None,
        parameters: tuple[str, ...] = (),
        aggregate: bool = False,
        deterministic: bool | None = None,
    ) -> str:
        """The name under which code with that result can be called in the SQL of the plan."""
        plain = "".join(c if c.isalnum() or c == "_" else "_" for c in name) or "code"
        made = DeclaredFunction(
            plain,
            "python",
            tuple(FunctionParameter(each, t.UNKNOWN, optional=True) for each in parameters)
            or _ANY_ARGUMENTS,
            returns,
            columns,
            deterministic=deterministic,
            aggregate=aggregate,
            digest=digest,
        )
        number = 1
        key = plain.lower()
        # A function of Spark's own wins over one of the same name.
        while is_built_in(key) or self.tables.functions.get(key, made) != made:
            number += 1
            key = f"{plain}_{number}".lower()
        self.tables.functions[key] = made
        called = key if number > 1 else plain
        if called.lower() != name:
            self.shown[f"{called.lower()}("] = f"{name}("
        return called

    def bind(self, text: str) -> BoundQuery:
        """What the binder finds out of a query over layers, which may read the row around it."""
        around = self.around
        while around is not None:
            text = f"SELECT inner__.*{around.source}, LATERAL ({text}\n) AS inner__"
            around = around.around
        return bind_text(text, self.tables)

    def inner_query(self, message: Any, scope: "Outer") -> tuple[Layer, Fragment]:
        """A relation that may read the row around it: its layer, and the query in its place."""
        assert self.lower is not None
        by_plan, outside, before = self.by_plan, self.around, set(self.tables.layers)
        around = Around(scope, scope.source.text, frozenset(scope.names), outside)
        self.by_plan, self.around = {}, around
        try:
            layer = self.lower(message, self)
        finally:
            self.by_plan, self.around = by_plan, outside
        layers = list(every_layer(layer))
        own = [
            each
            for each in layers
            if each.body is not None and each.name not in before and not each.inside
        ]
        for each in own:
            each.inside = True
        self.subqueries += [each for each in layers if each.name in before]
        listed = ", ".join(written(each.sql) for each in layer.visible) if layer.known else "*"
        query = sql(f"SELECT {listed or '*'} FROM {layer.name}")
        bodies = _bodies(own, together=False)
        return layer, sql(_common(bodies), query) if bodies else query

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
        if self.around is None and are_named(items):
            own = unique_names([(each.name or "", each.hidden) for each in items])
            listed = listed_items(items, own, whole)
            layer = late_layer(self, sql(head, listed, table, rest), items, own, inputs)
        else:
            names = [each.name for each in items]
            draft = sql(head, listed_items(items, names, whole), table, rest)
            bound = self.bind(draft.text)

            def width(item: Item) -> int:
                alone = listed_items([item], [item.name], None)
                return len(self.bind(sql("SELECT ", alone, table, rest).text).columns)

            widths = widths_of(items, bound, width)
            shown = {**self.shown, **renamed_in(inputs)}
            columns, names = columns_of(items, widths, bound, shown)
            items = with_own_names(items, widths, columns, bound)
            listed = listed_items(items, names, whole)
            body = sql(head, listed, table, rest)
            layer = self.layer(body, columns, inputs, known=bound.known, wrong=bound.has_errors)
        # As it is: how tightly a condition binds is told by the fragment.
        clause = sql(rest) if isinstance(rest, str) else rest
        layer.clauses = clauses_of(head, listed, table, clause)
        if lasting and source is None and not distinct:

            def exposed(child: Layer, at: int) -> Layer:
                return self.select((child,), [*items, hidden_item(child, at)], rest)

            layer.exposed = exposed
        return self._with_names(layer)

    def layer(
        self,
        body: Fragment,
        columns: tuple[LayerColumn, ...],
        inputs: tuple[Layer, ...],
        *,
        known: bool = True,
        wrong: bool = False,
    ) -> Layer:
        """A layer with a name of its own; the binder will say what is `wrong` with its query."""
        layer = Layer(self._next_name(), columns, known, inputs, body)
        self.tables.layers[layer.name] = layer
        if wrong:
            self.explained.add(layer.name)
        return layer

    def query(self, body: Fragment, inputs: tuple[Layer, ...]) -> Layer:
        """A layer of a whole query, whose columns are those that the binder finds."""
        bound = self.bind(body.text)
        names = [(seen_name(each.name or "", self.shown), False) for each in bound.columns]
        columns = tuple(
            LayerColumn(name, own, StructField("", each.type, each.nullable))
            for (name, _), own, each in zip(names, unique_names(names), bound.columns, strict=True)
        )
        if any(each.sql != given.name for each, given in zip(columns, bound.columns, strict=True)):
            listed = ", ".join(written(each.sql) for each in columns)
            body = sql("SELECT * FROM (", body, f") AS q({listed})")
        layer = self.layer(body, columns, inputs, known=bound.known, wrong=bound.has_errors)
        return self._with_names(layer)

    def _with_names(self, layer: Layer) -> Layer:
        """The layer; one of unknown columns over it where nobody knows what Spark calls some."""
        nameless = any(f"{UNKNOWN}(" in each.name for each in layer.columns)
        return self.unknown_rows(None, None, layer) if nameless else layer

    def _next_name(self) -> str:
        return f"frame_{len(self.tables.layers) + 1}"


def late_layer(
    lowering: Lowering,
    body: Fragment,
    items: Sequence[Item],
    own: Sequence[str],
    inputs: tuple[Layer, ...],
) -> Layer:
    """A layer whose columns have the names of the items, and `own` ones in SQL.

    What they hold is asked of the binder when somebody wants to know.
    """
    values = LateValues(lambda: bind_text(body.text, lowering.tables).columns, len(items))
    columns = tuple(
        LayerColumn(
            each.name or "",
            name,
            LateValue(values, at),
            each.origin,
            each.hidden,
            each.qualifier,
        )
        for at, (each, name) in enumerate(zip(items, own, strict=True))
    )
    layer = lowering.layer(body, columns, inputs)
    layer.values = values
    return layer


def apart(lowering: Lowering, layer: Layer) -> Layer:
    """The layer under another name where a query around it reads the same one."""
    around = lowering.around
    while around is not None:
        if layer.name in around.names and layer.known and layer.columns:
            items = passed_on(layer)
            made = lowering.select((layer,), items)
            made.plan_ids |= layer.plan_ids
            return made
        around = around.around
    return layer


def refuse_setting(lowering: Lowering, what: str, gate: tuple[str, str], site: Site | None) -> None:
    """Report what Spark takes only with a setting that is off by default."""
    setting, condition = gate
    if lowering.settings.get(setting) == "true":
        return
    message = f"{what} is off in Spark unless `{setting}` is set"
    finding = Finding(Code.INVALID_CLAUSE, message, site, None, condition)
    if all(each.message != message for each in lowering.findings):
        lowering.findings.append(finding)


def finished_query(top: Layer, beside: Sequence[Layer] = ()) -> Fragment:
    """The whole query: layers as common tables, the last one with the names that people see.

    `beside` are layers that only subqueries read.
    """
    every = {id(each): each for start in (*beside, top) for each in every_layer(start)}
    layers = [each for each in every.values() if not each.inside]
    plain = [each.name == each.sql and not each.hidden for each in top.columns]
    if top.body is None or not all(plain):
        listed = ", ".join(
            written(each.sql)
            if each.sql == each.name
            else f"{written(each.sql)} AS {written(each.name)}"
            for each in top.visible
        )
        every_one = all(plain) or not (top.known and top.columns)
        main = sql(f"SELECT {'*' if every_one else listed} FROM {top.name}")
        bodies = _bodies(layers, together=not beside)
    else:
        bodies = _bodies(layers, together=not beside)
        main = bodies.pop(top.name)
    return sql(_common(bodies), main) if bodies else main


def _bodies(layers: Sequence[Layer], *, together: bool) -> dict[str, Fragment]:
    """The queries of layers by name; `together` says that none is read but by other layers."""
    if together:
        return fused_bodies(layers)
    return {each.name: each.body for each in layers if each.body is not None}


def _common(bodies: Mapping[str, Fragment]) -> Fragment:
    """Queries as common tables."""
    each_one = [sql(f"{name} AS (\n  ", body, "\n)") for name, body in bodies.items()]
    return sql("WITH ", joined(",\n", each_one), "\n")


def is_built_in(name: str) -> bool:
    """Whether a call of this name, in lower case, is one of Spark's own functions or no call."""
    known = name in SPECIAL_KINDS or name in GENERATORS or find_function(name) is not None
    return known or written(name) != name
