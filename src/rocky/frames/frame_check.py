"""Checking a frame: its plan lowered, bound, and what was found at the author's calls.

`Frames` holds the schemas that frames begin with. While it is open (`with Frames(...) as tables`)
PySpark's functions make plans, and nothing connects anywhere.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any, Final

from pyspark.sql.connect import proto
from pyspark.sql.connect.dataframe import DataFrame

from rocky.diagnostics import Diagnostic, Severity
from rocky.diagnostics.suggestion import suggestion
from rocky.errors import InvalidRequest, NothingSelected
from rocky.frames.column_edges import lineage_of
from rocky.frames.fragments import SitedText, finished
from rocky.frames.layers import Layer
from rocky.frames.lowering import Gap, Lowering, finished_query
from rocky.frames.plan_messages import messages_in
from rocky.frames.relations.code_rows import registered
from rocky.frames.relations.table import lower
from rocky.frames.session import NeedsRows, PlanSession, building, relation_of
from rocky.language.binder.query import BoundQuery, bind_text
from rocky.language.datatypes.text import parse_schema
from rocky.language.datatypes.types import ArrayType, DataType, MapType, StructField, StructType
from rocky.language.ir import Edge
from rocky.language.names import bare_name, split_name
from rocky.language.tables import Tables, tables_by_name
from rocky.project.call_places import CallPlaces, Site

_ATTRIBUTE: Final = proto.Expression.UnresolvedAttribute
_CALLED: Final = re.compile(r"(\w+)\(")


@dataclass(frozen=True, slots=True)
class CheckedFrame:
    """What is known of a frame.

    `known` is False where its list of columns is not complete; `gaps` say why something could not
    be worked out. `sql` is Spark SQL that gives the same rows, None where code makes some of them.
    `lineage` has, for each column, the columns of tables that it is made from.
    """

    columns: tuple[StructField, ...]
    known: bool
    diagnostics: tuple[Diagnostic, ...]
    gaps: tuple[Gap, ...]
    sql: str | None
    lineage: tuple[tuple[Edge, ...], ...] = ()

    @property
    def schema(self) -> str:
        """The columns as one text: `id BIGINT NOT NULL, name STRING`."""
        return ", ".join(
            f"{each.name} {_in_capitals(each.type)}{'' if each.nullable else ' NOT NULL'}"
            for each in self.columns
        )

    @property
    def errors(self) -> tuple[Diagnostic, ...]:
        return tuple(each for each in self.diagnostics if each.severity is Severity.ERROR)


@dataclass(frozen=True, slots=True)
class LoweredPlan:
    """The SQL of a plan with its places, and what lowering it found."""

    text: SitedText
    lowering: Lowering
    top: Layer

    @property
    def is_sql(self) -> bool:
        """Whether SQL alone gives its rows, without code."""
        called = set(_CALLED.findall(self.text.text.lower()))
        return not called & self.lowering.tables.functions.keys()


class Frames:
    """Frames over tables of known schemas, checked without Spark."""

    def __init__(self, tables: Mapping[str, str | Sequence[StructField]] | Tables) -> None:
        """`tables` are schemas by name, each a text (`id bigint not null, ...`) or fields."""
        self._tables = _as_tables(tables)
        self.session = PlanSession(self._columns_of)
        self.session.checks = self.check

        self._open = ExitStack()

    def __enter__(self) -> "Frames":
        self._open.enter_context(building(self.session))
        return self

    def __exit__(self, *_: object) -> None:
        self._open.close()

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        try:
            return self.table(name)
        except NothingSelected as unknown:
            raise AttributeError(str(unknown)) from None

    def table(self, name: str) -> Any:
        """The frame of a table, or of a view that code has made. Raises NothingSelected."""
        parts = split_name(name.lower())
        views = self.session.client.views
        declared = self._tables.find(parts) or self._tables.undeclared(parts)
        if declared is None and ".".join(parts) not in views:
            names = [*self._tables.names(), *views]
            advice = suggestion(name, [*names, *(split_name(each)[-1] for each in names)])
            raise NothingSelected(f"no table `{name}`" + (f"; {advice}" if advice else ""))
        return self.session.table(name)

    def lowered(self, frame: Any) -> LoweredPlan:
        """The SQL of a frame's plan."""
        return self._lowered(relation_of(frame, self.session))

    def check(self, frame: Any) -> CheckedFrame:
        """What is known of a frame, and what is wrong with the code that made it."""
        plan = self.lowered(frame)
        bound = bind_text(plan.text.text, plan.lowering.tables)
        places = CallPlaces()
        found = [*_own_findings(plan, places), *_bound_findings(plan, bound, places)]
        return CheckedFrame(
            tuple(StructField(each.name or "", each.type, each.nullable) for each in bound.columns),
            bound.known,
            tuple(found),
            tuple(plan.lowering.gaps),
            plan.text.text if plan.is_sql else None,
            lineage_of(bound),
        )

    def _lowered(self, relation: Any) -> LoweredPlan:
        lowering = Lowering(self._tables, wanted_keys(relation))
        lowering.settings = self.session.client.settings
        for name, made in self.session.client.functions.items():
            registered(name, made, lowering)
        for name, view in self.session.client.views.items():
            lowering.views[name] = lower(view, lowering)
        top = lower(relation, lowering)
        text = finished(finished_query(top, lowering.subqueries))
        return LoweredPlan(text, lowering, top)

    def _columns_of(self, relation: Any) -> tuple[StructField, ...]:
        plan = self._lowered(relation)
        if not plan.top.known:
            gaps = [(each.reason, each.site) for each in plan.lowering.gaps]
            gaps += [(each.message, each.site) for each in plan.lowering.findings]
            reason, site = gaps[0] if gaps else (None, None)
            told = f": {reason}" if reason else ""
            raise NeedsRows(f"the columns are not known{told}", site, "")
        return tuple(StructField(each.name, each.type, each.nullable) for each in plan.top.visible)


def check(frame: Any) -> CheckedFrame:
    """What is known of a frame that was made of the tables of a `Frames`."""
    checks = getattr(getattr(frame, "sparkSession", None), "checks", None)
    if checks is None:
        kind = type(frame).__name__
        raise InvalidRequest(f"`{kind}` is no frame of `rocky.Frames`: Spark checks its own")
    found: CheckedFrame = checks(frame)
    return found


def wanted_keys(relation: Any) -> frozenset[str]:
    """The names, in lower case, of all columns that a plan takes from one certain frame."""
    found: set[str] = set()
    stack = [relation]
    while stack:
        each = stack.pop()
        if isinstance(each, _ATTRIBUTE) and each.HasField("plan_id"):
            found.add(bare_name(each.unparsed_identifier).lower())
        stack.extend(messages_in(each))
    return frozenset(found)


def is_frame(value: Any) -> bool:
    """Whether a value is a frame of a plan."""
    return isinstance(value, DataFrame)


def _in_capitals(kind: DataType) -> str:
    """A type as a schema shows it: names of fields are as they are."""
    if isinstance(kind, ArrayType):
        return f"ARRAY<{_in_capitals(kind.element)}>"
    if isinstance(kind, MapType):
        return f"MAP<{_in_capitals(kind.key)},{_in_capitals(kind.value)}>"
    if isinstance(kind, StructType):
        fields = (f"{each.name}:{_in_capitals(each.type)}" for each in kind.fields)
        return f"STRUCT<{','.join(fields)}>"
    return str(kind).upper()


def _own_findings(plan: LoweredPlan, places: CallPlaces) -> Iterator[Diagnostic]:
    for each in plan.lowering.findings:
        path, span = places.span(each.site, each.message)
        yield Diagnostic(
            each.code,
            each.message,
            span,
            path,
            condition=each.condition,
            help=each.help,
            position=places.position(path, span),
        )


def _bound_findings(
    plan: LoweredPlan, bound: BoundQuery, places: CallPlaces
) -> Iterator[Diagnostic]:
    for each in bound.diagnostics:
        site: Site | None = plan.text.site(each.span)
        words = plan.text.text[each.span.start : each.span.end] if each.span else ""
        path, span = places.span(site, f"`{bare_name(words)}`")
        yield Diagnostic(
            each.code,
            each.message,
            span,
            path,
            each.severity,
            each.condition,
            help=each.help,
            position=places.position(path, span),
        )


def _as_tables(tables: Mapping[str, str | Sequence[StructField]] | Tables) -> Tables:
    if not isinstance(tables, Mapping):
        return tables
    return tables_by_name(
        {
            name: parse_schema(each) if isinstance(each, str) else each
            for name, each in tables.items()
        }
    )
